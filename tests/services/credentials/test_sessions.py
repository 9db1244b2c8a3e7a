from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallerKind, OrganizationStatus, Role, UserStatus
from app.errors import Unauthenticated
from app.models import PortalSession, User, utcnow
from app.policy import ROLE_PERMISSIONS
from app.policy.caller import Caller
from app.services.auth import sessions
from tests.fixtures.clock import SetClock
from tests.fixtures.tenants import Tenant

HOURS = timedelta(hours=12)
IDLE = timedelta(hours=1)


def start(session: Session, user: User) -> str:
    return sessions.create(
        session, user, lifetime=HOURS, host="localhost", ip="192.0.2.1", user_agent="Browser"
    )


def is_open(session: Session, token: str | None) -> bool:
    try:
        sessions.load(session, token, host="localhost", idle=IDLE)
    except Unauthenticated:
        return False
    return True


def test_a_session_gives_its_user_and_rights(session: Session, tenant: Tenant) -> None:
    token = start(session, tenant.user)
    signed_in = sessions.load(
        session, token, host="localhost", idle=IDLE, ip="192.0.2.9", request_id="req_1"
    )
    assert signed_in.caller == Caller(
        kind=CallerKind.USER,
        role=Role.STANDARD,
        subject_id=tenant.user.id,
        label="olga@northwind.example",
        partner_id=tenant.partner.id,
        organization_id=tenant.organization.id,
        permissions=ROLE_PERMISSIONS[Role.STANDARD],
        ip="192.0.2.9",
        request_id="req_1",
    )
    assert (signed_in.user, signed_in.partner) == (tenant.user, tenant.partner)
    assert (signed_in.record.ip, signed_in.record.user_agent) == ("192.0.2.1", "Browser")


def test_the_token_is_not_stored(session: Session, tenant: Tenant) -> None:
    token = start(session, tenant.user)
    stored = session.scalars(select(PortalSession)).one()
    assert len(token) == 43  # 256 bits
    assert token not in str(vars(stored))


@pytest.mark.parametrize("token", [None, "", "unknown", "\x00", "ü", "\ud800", "x" * 10_000])
def test_an_invalid_token_has_no_user(session: Session, token: str | None) -> None:
    assert is_open(session, token) is False


def test_a_session_ends_at_its_time(session: Session, tenant: Tenant) -> None:
    token = start(session, tenant.user)
    session.scalars(select(PortalSession)).one().expires_at = utcnow()
    session.flush()
    assert is_open(session, token) is False


def test_signing_out_ends_the_session_for_good(session: Session, tenant: Tenant) -> None:
    token, elsewhere = start(session, tenant.user), start(session, tenant.user)
    sessions.end(session, token)
    sessions.end(session, token)
    assert not is_open(session, token)
    assert is_open(session, elsewhere)


def test_ending_all_sessions_of_a_user_can_spare_one(session: Session, tenant: Tenant) -> None:
    tokens = [start(session, tenant.user) for _ in range(3)]
    stranger = start(session, tenant.plus_user)
    assert sessions.end_all_of_user(session, tenant.user.id, except_token=tokens[0]) == 2
    assert [t for t in (*tokens, stranger) if is_open(session, t)] == [tokens[0], stranger]
    assert sessions.end_all_of_user(session, tenant.user.id) == 1
    assert is_open(session, tokens[0]) is False


def partner_suspended(tenant: Tenant) -> None:
    tenant.partner.suspended_at = utcnow()


def organization_suspended(tenant: Tenant) -> None:
    tenant.organization.status = OrganizationStatus.SUSPENDED


def user_suspended(tenant: Tenant) -> None:
    tenant.user.status = UserStatus.SUSPENDED


def user_deactivated(tenant: Tenant) -> None:
    tenant.user.status = UserStatus.DEACTIVATED


@pytest.mark.parametrize(
    "change", [partner_suspended, organization_suspended, user_suspended, user_deactivated]
)
def test_a_suspension_ends_access_at_once(
    session: Session, tenant: Tenant, change: Callable[[Tenant], None]
) -> None:
    token = start(session, tenant.user)
    assert is_open(session, token)
    change(tenant)
    session.flush()
    assert is_open(session, token) is False


def test_a_demotion_counts_at_once(session: Session, tenant: Tenant) -> None:
    person = tenant.staff[Role.PARTNER_ADMIN]
    token = start(session, person)
    person.user_type = Role.PARTNER_EDITOR
    session.flush()
    caller = sessions.load(session, token, host="localhost", idle=IDLE).caller
    assert (caller.role, caller.permissions) == (
        Role.PARTNER_EDITOR,
        ROLE_PERMISSIONS[Role.PARTNER_EDITOR],
    )


def test_use_is_noted_once_a_minute_and_is_no_update_of_the_user(
    session: Session, tenant: Tenant
) -> None:
    token = start(session, tenant.user)
    signed_in = sessions.load(session, token, host="localhost", idle=IDLE)
    assert signed_in.touch_due is False
    earlier = utcnow() - timedelta(minutes=2)
    signed_in.record.seen_at = earlier
    session.flush()
    session.refresh(tenant.user)
    updated_at = tenant.user.updated_at
    signed_in = sessions.load(session, token, host="localhost", idle=IDLE)
    assert signed_in.touch_due is True
    sessions.touch(session, signed_in)
    signed_in = sessions.load(session, token, host="localhost", idle=IDLE)
    assert signed_in.touch_due is False
    session.refresh(tenant.user)
    assert tenant.user.updated_at == updated_at
    assert tenant.user.last_session == signed_in.record.seen_at
    assert signed_in.record.seen_at > earlier


def test_a_session_ends_when_it_was_not_used_for_too_long(
    session: Session, tenant: Tenant, clock: SetClock
) -> None:
    token = start(session, tenant.user)
    clock.pass_by(minutes=59)
    assert is_open(session, token) is True
    clock.pass_by(minutes=2)
    assert is_open(session, token) is False


def test_use_keeps_a_session_open_until_its_lifetime_ends(
    session: Session, tenant: Tenant, clock: SetClock
) -> None:
    token = start(session, tenant.user)
    was_open = []
    for _ in range(15):
        clock.pass_by(minutes=50)
        was_open.append(is_open(session, token))
        if was_open[-1]:
            signed_in = sessions.load(session, token, host="localhost", idle=IDLE)
            sessions.touch(session, signed_in)
    assert was_open == [True] * 14 + [False]  # 12 hours
