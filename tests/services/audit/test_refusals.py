"""Refused attempts in the history: few rows for many attempts, in the right partner's history."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import String, cast, func, select
from sqlalchemy.orm import Session

from app.config import Settings
from app.database import Database
from app.enums import OrganizationStatus, UserStatus
from app.jobs import housekeeping
from app.models import AuditEntry, Base, RefusalCount, utcnow
from app.services.audit import refusals, verification
from app.services.audit.refusals import Refusal
from app.services.auth import recovery, refused_sign_ins, sign_in
from tests.fixtures.clock import SetClock
from tests.fixtures.mails import send_waiting
from tests.fixtures.refusals import refused
from tests.fixtures.settings import SECRET_KEY, settings_for, url_of
from tests.fixtures.tenants import Tenant
from tests.fixtures.worker_context import worker_context

FEW = Settings(
    env="test",
    secret_key=SECRET_KEY,
    failed_sign_ins=2,
    failed_sign_ins_account=3,
    failed_sign_ins_network=30,
)
UNKNOWN = "stranger@nowhere.example"


def guess(
    session: Session, email: str, ip: str = "192.0.2.1", partner_id: UUID | None = None
) -> None:
    begun = sign_in.begin(session, email=email, ip=ip, partner_id=partner_id, settings=FEW)
    if not begun.refusal:
        sign_in.finish(session, begun, [])


@pytest.mark.usefixtures("clock")
def test_many_equal_refusals_become_a_few_entries_and_a_sum(
    session: Session, clock: SetClock, tenant: Tenant
) -> None:
    refusal = Refusal(
        action=refusals.SIGN_IN,
        reason="wrong_password",
        target_type="user",
        target_id=tenant.user.id,
        target=tenant.user.email,
        partner_id=tenant.partner.id,
        network="192.0.2.1",
    )
    for _ in range(123):
        refusals.record_refusals(session, refusals.anonymous_caller("req_1"), [refusal])
    begun = utcnow()
    assert refusals.close(session) is False
    clock.pass_by(minutes=10)
    assert refusals.close(session) is False
    session.commit()
    expected = (
        tenant.partner.id,
        "sign_in.refused",
        tenant.user.email,
        "192.0.2.1",
        "wrong_password",
    )
    assert refused(session) == [(*expected, times) for times in (1, 10, 100, 123)]
    newest = session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc()).limit(1)).one()
    assert (newest.actor, newest.actor_kind, newest.after["since"]) == (
        "Visitor",
        "visitor",
        begun.isoformat(),
    )
    assert session.scalars(select(RefusalCount)).all() == []
    assert verification.verify(session).broken is None


@pytest.mark.usefixtures("clock")
def test_a_late_sum_is_written_with_the_next_refusal(
    session: Session, clock: SetClock, tenant: Tenant
) -> None:
    for _ in range(3):
        refused_sign_ins.record_refusal(session, tenant.user.email_key, None, "192.0.2.1")
    clock.pass_by(minutes=11)
    refused_sign_ins.record_refusal(session, tenant.user.email_key, None, "192.0.2.1")
    assert [row[-1] for row in refused(session)] == [1, 3, 1]


def no_change(tenant: Tenant) -> None:
    pass


def suspend_user(tenant: Tenant) -> None:
    tenant.user.status = UserStatus.SUSPENDED


def suspend_organization(tenant: Tenant) -> None:
    tenant.organization.status = OrganizationStatus.SUSPENDED


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (no_change, "wrong_password"),
        (suspend_user, "not_active"),
        (suspend_organization, "not_active"),
    ],
)
def test_a_refused_sign_in_is_in_the_history_of_the_accounts_partner(
    session: Session, tenant: Tenant, change: Callable[[Tenant], None], reason: str
) -> None:
    change(tenant)
    session.flush()
    guess(session, tenant.user.email)
    assert refused(session) == [
        (tenant.partner.id, "sign_in.refused", tenant.user.email, "192.0.2.1", reason, 1)
    ]


def test_an_unknown_address_is_counted_and_its_text_is_stored_nowhere(
    session: Session, settings: Settings, tenant: Tenant
) -> None:
    guess(session, UNKNOWN)
    guess(session, UNKNOWN, "2001:db8:1:2::9", tenant.partner.id)
    for partner_id in (None, tenant.partner.id):
        recovery.enqueue_recovery(session, email=UNKNOWN, partner_id=partner_id, ip="192.0.2.1")
    assert send_waiting(session, settings) == []
    assert refused(session) == [
        (None, "sign_in.refused", None, "192.0.2.1", "unknown_email", 1),
        (tenant.partner.id, "sign_in.refused", None, "2001:db8:1:2::/64", "unknown_email", 1),
        (None, "recovery.refused", None, "192.0.2.1", "unknown_email", 1),
        (tenant.partner.id, "recovery.refused", None, "192.0.2.1", "unknown_email", 1),
    ]
    assert tables_with(session, "nowhere.example") == []


def tables_with(session: Session, text: str) -> list[str]:
    """The tables of which any column holds the text."""
    return [
        table.name
        for table in Base.metadata.tables.values()
        for column in table.columns
        if session.scalar(
            select(func.count()).select_from(table).where(cast(column, String).contains(text))
        )
    ]


def test_recovery_of_a_suspended_account_is_in_the_history(
    session: Session, settings: Settings, tenant: Tenant
) -> None:
    suspend_user(tenant)
    recovery.enqueue_recovery(session, email=tenant.user.email, partner_id=None, ip="192.0.2.1")
    assert send_waiting(session, settings) == []
    assert refused(session) == [
        (tenant.partner.id, "recovery.refused", tenant.user.email, "192.0.2.1", "not_active", 1)
    ]


@pytest.mark.usefixtures("clock")
def test_attempts_that_come_too_early_are_counted_once_for_the_account(
    session: Session, tenant: Tenant
) -> None:
    for number in range(3):
        guess(session, tenant.user.email, f"198.51.100.{number}")
    for number in range(10):
        guess(session, tenant.user.email, f"198.51.100.{100 + number}")
    late: list[Any] = [row for row in refused(session) if row[4] == "too_many_failures"]
    assert late == [
        (tenant.partner.id, "sign_in.refused", tenant.user.email, None, "too_many_failures", times)
        for times in (1, 10)
    ]


@pytest.mark.usefixtures("clock")
def test_attempts_of_a_network_that_come_too_early_are_counted_once_for_the_network(
    session: Session, tenant: Tenant
) -> None:
    for number in range(40):
        guess(session, f"user{number}@northwind.example")
    late = [row for row in refused(session) if row[4] == "too_many_failures"]
    assert late == [
        (None, "sign_in.refused", None, "192.0.2.1", "too_many_failures", times)
        for times in (1, 10)
    ]


def test_housekeeping_writes_the_sums(
    fresh_database: Database, tmp_path: Path, clock: SetClock
) -> None:
    with fresh_database.transaction() as session:
        for _ in range(2):
            refused_sign_ins.record_refusal(session, UNKNOWN, None, "192.0.2.1")
    clock.pass_by(minutes=10)
    with worker_context(settings_for(url_of(fresh_database), tmp_path)):
        housekeeping.close_refusal_counts()
    with fresh_database.transaction() as session:
        assert [row[-1] for row in refused(session)] == [1, 2]
