"""The roles that set spending limits, how these are shown, and calls that wait for them."""

import pytest
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.enums import CallStatus, Role
from app.errors import Conflict, Forbidden, NotFound, ValidationFailed
from app.models import AuditEntry, Partner, SpendingLimit, SpendingTotal, new_id, utcnow
from app.services import spending
from app.services.calls import claims, waiting
from app.services.calls.claims import ClaimKind
from app.services.credentials import api_keys
from app.services.spending import LimitSubject, LimitUsage, SpendingLimits
from app.services.spending.limits import MAX_MINUTES
from app.services.spending.scopes import month_period
from tests.fixtures.clock import SetClock
from tests.fixtures.tenants import OPERATOR, Tenant, make_tenant
from tests.fixtures.worker import make_calling_organization

DOLLAR = 1_000_000


def test_a_partner_admin_limits_an_organization(session: Session, tenant: Tenant) -> None:
    admin, subject = (
        tenant.caller(Role.PARTNER_ADMIN),
        LimitSubject(organization_id=tenant.organization.id),
    )
    wanted = SpendingLimits(day_micros=20 * DOLLAR, month_minutes=500, waits=True)
    assert spending.change(session, admin, subject, wanted, expected_version=0) is True
    assert spending.change(session, admin, subject, wanted, expected_version=0) is False
    found = spending.spending_of(session, tenant.caller(Role.PARTNER_EDITOR), subject)
    assert (found.limits, found.version, found.currency, found.day_money, found.month_time) == (
        wanted,
        1,
        "USD",
        LimitUsage(0, 0, 20 * DOLLAR),
        LimitUsage(0, 0, 30_000),
    )
    entry = session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc())).first()
    assert entry is not None
    assert (entry.action, entry.target, entry.before, entry.after) == (
        "organization.spending_limited",
        tenant.organization.name,
        {"spendingADay": None, "minutesAMonth": None, "spendingWaits": False},
        {"spendingADay": "20.00 USD", "minutesAMonth": 500, "spendingWaits": True},
    )


def test_the_highest_limit_is_nearly_used(session: Session, tenant: Tenant) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    subject = LimitSubject(organization_id=tenant.organization.id)
    spending.change(session, admin, subject, SpendingLimits(month_minutes=MAX_MINUTES))
    scope = session.scalars(select(SpendingLimit.scope)).one()
    total = SpendingTotal(
        partner_id=tenant.partner.id, scope=scope, period=month_period(utcnow()), spent_seconds=60
    )
    session.add(total)
    session.flush()
    assert spending.near_limits(session, admin, 1) == []
    total.spent_seconds = MAX_MINUTES * 60
    session.flush()
    (near,) = spending.near_limits(session, admin, 1)
    assert near.is_reached


def test_a_change_of_an_old_version_is_refused(session: Session, tenant: Tenant) -> None:
    admin, subject = (
        tenant.caller(Role.PARTNER_ADMIN),
        LimitSubject(organization_id=tenant.organization.id),
    )
    spending.change(session, admin, subject, SpendingLimits(day_minutes=5))
    with pytest.raises(Conflict) as refused:
        spending.change(session, admin, subject, SpendingLimits(day_minutes=6), expected_version=0)
    assert refused.value.code == "changed_meanwhile"


@pytest.mark.parametrize("amount", [-1, 1_000_000_001 * DOLLAR])
def test_an_amount_out_of_range_is_refused(session: Session, tenant: Tenant, amount: int) -> None:
    subject = LimitSubject(organization_id=tenant.organization.id)
    with pytest.raises(ValidationFailed) as refused:
        spending.change(session, OPERATOR, subject, SpendingLimits(month_micros=amount))
    assert [(each.field, each.code) for each in refused.value.problems] == [
        ("monthMicros", "out_of_range")
    ]


def test_only_the_operator_limits_a_partner(session: Session, tenant: Tenant) -> None:
    subject, wanted = LimitSubject(partner_id=tenant.partner.id), SpendingLimits(day_micros=DOLLAR)
    with pytest.raises(Forbidden):
        spending.change(session, tenant.caller(Role.PARTNER_ADMIN), subject, wanted)
    spending.change(session, OPERATOR, subject, wanted)
    assert (
        spending.spending_of(session, tenant.caller(Role.PARTNER_ADMIN), subject).limits == wanted
    )


@pytest.mark.parametrize("role", [Role.PARTNER_EDITOR, Role.ADMIN, Role.STANDARD])
def test_other_roles_change_no_limits(session: Session, tenant: Tenant, role: Role) -> None:
    subject = LimitSubject(organization_id=tenant.organization.id)
    with pytest.raises(Forbidden):
        spending.change(session, tenant.caller(role), subject, SpendingLimits(day_minutes=1))


def test_limits_of_another_partner_are_answered_like_missing_ones(
    session: Session, tenant: Tenant
) -> None:
    stranger = make_tenant(session, "Southwind").caller(Role.PARTNER_ADMIN)
    key = api_keys.create(
        session,
        tenant.caller(Role.PARTNER_ADMIN),
        organization_id=tenant.organization.id,
        name="Scripts",
    ).key
    for subject in (
        LimitSubject(partner_id=tenant.partner.id),
        LimitSubject(organization_id=tenant.organization.id),
        LimitSubject(api_key_id=key.id),
    ):
        with pytest.raises(NotFound):
            spending.spending_of(session, stranger, subject)


def test_a_rotated_key_keeps_its_limits(session: Session, tenant: Tenant) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    made = api_keys.create(
        session,
        admin,
        organization_id=tenant.organization.id,
        name="Scripts",
    )
    wanted = SpendingLimits(day_micros=5 * DOLLAR, month_minutes=9)
    spending.change(session, admin, LimitSubject(api_key_id=made.key.id), wanted)
    new = api_keys.rotate(session, admin, made.key.id)
    assert (
        spending.spending_of(session, admin, LimitSubject(api_key_id=new.key.id)).limits == wanted
    )


def test_limits_are_deleted_with_their_partner(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    scope = f"organization:{calling_organization.organization_id}"
    session.add(
        SpendingLimit(scope=scope, partner_id=calling_organization.partner_id, day_minutes=1)
    )
    session.flush()
    session.execute(delete(Partner).where(Partner.id == calling_organization.partner_id))
    assert session.scalars(select(SpendingLimit)).all() == []


def test_raising_a_limit_lets_a_waiting_call_go_earlier(session: Session, clock: SetClock) -> None:
    clock.set("2026-10-15T12:00")
    calling_organization = make_calling_organization(session)
    subject = LimitSubject(organization_id=calling_organization.organization_id)
    spending.change(session, OPERATOR, subject, SpendingLimits(day_micros=0, waits=True))
    call = calling_organization.accept(session)
    assert (call.status, call.scheduled_for) == (CallStatus.SCHEDULED, spending_until(session))
    spending.change(session, OPERATOR, subject, SpendingLimits(day_micros=100 * DOLLAR, waits=True))
    waiting.reschedule_earlier(
        session, calling_organization.partner_id, calling_organization.organization_id, None
    )
    assert call.scheduled_for == utcnow()
    assert claims.next_step(session, call.id, new_id(), calls_at_once=5).kind is ClaimKind.DIAL


def spending_until(session: Session) -> object:
    """When the limits of today end."""
    partner = make_tenant(session, "Eastwind").partner
    return spending.spending_of(session, OPERATOR, LimitSubject(partner_id=partner.id)).until[0]


def test_a_new_partner_gets_the_limit_of_the_installation(session: Session) -> None:
    partner = make_tenant(session).partner
    spending.limit_new_partner(session, OPERATOR, partner, 500 * DOLLAR)
    found = spending.spending_of(session, OPERATOR, LimitSubject(partner_id=partner.id))
    assert (found.limits, found.version) == (SpendingLimits(day_micros=500 * DOLLAR), 1)
