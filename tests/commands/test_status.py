"""Operators suspend and resume partners and organizations from the command line."""

from uuid import uuid4

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Assistant, AuditEntry, DoNotCallEntry, Organization, PlanLimit
from tests.commands.conftest import run_command
from tests.fixtures.tenants import Tenant, open_destinations


def printed(app: Flask, *words: object) -> str:
    result = run_command(app, *words)
    assert result.exit_code == 0, result.output
    return result.output.strip()


def actions(session: Session) -> list[tuple[str, str]]:
    query = select(AuditEntry.action, AuditEntry.actor).order_by(AuditEntry.id)
    return [(action, label) for action, label in session.execute(query)]


def account_status(session: Session, tenant: Tenant) -> str:
    session.expire_all()
    return session.get_one(Organization, tenant.organization.id).status.value


def test_an_organization_is_suspended_and_resumed(
    app: Flask, session: Session, tenant: Tenant
) -> None:
    name, before = tenant.organization.name, len(actions(session))
    assert (
        printed(app, "organization", "suspend", tenant.organization.id) == f"{name} is suspended."
    )
    assert account_status(session, tenant) == "suspended"
    assert printed(app, "organization", "resume", tenant.organization.id) == f"{name} is active."
    assert account_status(session, tenant) == "active"
    assert actions(session)[before:] == [
        ("organization.suspended", "command line"),
        ("organization.resumed", "command line"),
    ]


def test_the_list_of_regions_is_replaced(app: Flask, session: Session, tenant: Tenant) -> None:
    open_destinations(session, tenant.partner.id, "CA", "JM")
    session.commit()
    printed(app, "organization", "regions", tenant.organization.id, "us", "CA", "JM")
    printed(app, "organization", "regions", tenant.organization.id, "US", "CA")
    session.expire_all()
    assert session.get_one(Organization, tenant.organization.id).allowed_regions == ["CA", "US"]


def test_an_unknown_region_is_refused_and_nothing_changes(
    app: Flask, session: Session, tenant: Tenant
) -> None:
    before = list(tenant.organization.allowed_regions)
    result = run_command(app, "organization", "regions", tenant.organization.id, "US", "QQ")
    assert (result.exit_code, result.output) == (
        1,
        "Error: QQ is not a region with phone numbers.\n",
    )
    session.expire_all()
    assert session.get_one(Organization, tenant.organization.id).allowed_regions == before


def test_a_number_is_put_on_the_do_not_call_list(
    app: Flask, session: Session, tenant: Tenant
) -> None:
    words = ("do-not-call", "add", tenant.organization.id, "+1 (202) 555-0123")
    assert {printed(app, *words), printed(app, *words)} == {"+12025550123 is on the list."}
    rows = session.execute(select(DoNotCallEntry.phone, DoNotCallEntry.added_by)).all()
    assert [tuple(row) for row in rows] == [("+12025550123", "command line")]


def test_an_assistant_is_switched_off_and_on(app: Flask, session: Session, tenant: Tenant) -> None:
    query = select(Assistant).where(Assistant.organization_id == tenant.organization.id)
    assistant = session.scalars(query.limit(1)).one()
    assert (
        printed(app, "assistant", "deactivate", assistant.id)
        == f"{assistant.name} is switched off."
    )
    session.refresh(assistant)
    assert assistant.active is False
    assert (
        printed(app, "assistant", "activate", assistant.id) == f"{assistant.name} is switched on."
    )
    session.refresh(assistant)
    assert assistant.active is True


@pytest.mark.parametrize(
    "words",
    [
        ("organization", "suspend", uuid4()),
        ("organization", "regions", uuid4(), "US"),
        ("do-not-call", "add", uuid4(), "+12025550123"),
        ("assistant", "deactivate", uuid4()),
    ],
)
def test_a_missing_record_is_reported_in_one_sentence(
    app: Flask, words: tuple[object, ...]
) -> None:
    result = run_command(app, *words)
    assert result.exit_code == 1
    assert result.output.startswith("Error: There is no such ")


def test_a_plan_is_given_limits_that_count_for_its_organizations(
    app: Flask, session: Session, tenant: Tenant
) -> None:
    command = ("partner", "plan-limits", tenant.partner.id, "customerPlusPlan")
    message = [
        printed(app, *command, "--at-once", 2, "--a-day", 1000),
        printed(app, *command, "--a-day", 50),
    ]
    assert message == [
        "Calls on customerPlusPlan: 2 at once and 1,000 a day.",
        "Calls on customerPlusPlan: any number at once and 50 a day.",
    ]
    session.expire_all()
    stored = session.scalars(select(PlanLimit)).one()
    assert (stored.max_calls_at_once, stored.max_calls_a_day) == (None, 50)
    assert actions(session)[-1] == ("partner.plan_limited", "command line")
    refused = run_command(app, *command, "--at-once", 0)
    assert refused.exit_code == 1
    assert "from 1 to 1,000" in refused.output
