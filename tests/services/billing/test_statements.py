"""Statements: closed on the first day of the next month, numbered without gaps, and never
rewritten."""

from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Role, SubscriptionStatus, Tier, UsageUnit
from app.errors import Forbidden, NotFound
from app.models import AuditEntry, Statement, Subscription
from app.schemas.organizations import UpdateOrganizationInput
from app.schemas.parsing import read
from app.services import organizations
from app.services.billing import closing, statements
from app.services.billing.rating import LineKind, StatementLine
from app.services.pricing.plans import PlanTerms
from tests.fixtures.clock import set_clock
from tests.fixtures.tenants import Tenant, make_tenant
from tests.services.billing.conftest import call, publish

OCTOBER, NOVEMBER = date(2026, 10, 1), date(2026, 11, 1)
SINCE = datetime(2026, 10, 1, tzinfo=UTC)
IN_OCTOBER = datetime(2026, 10, 20, 12, tzinfo=UTC)
IN_NOVEMBER = datetime(2026, 11, 20, 12, tzinfo=UTC)
CLOSING = datetime(2026, 11, 1, 3, tzinfo=UTC)
NEXT_CLOSING = datetime(2026, 12, 1, 3, tzinfo=UTC)
PLUS = PlanTerms(9_900, "USD", unit=UsageUnit.MINUTE, included=10, overage_micros=150_000)
PLAN_LINE = StatementLine(LineKind.PLAN, 9_900, "day", 31, 0, 31, 99_000_000)


@pytest.fixture
def tenant(session: Session, tenant: Tenant) -> Tenant:
    """Has plans since October."""
    publish(session, tenant, SINCE, PLUS=PLUS)
    return tenant


def close(session: Session, now: datetime) -> int:
    written = 0
    while count := closing.close_due(session, now):
        written += count
    return written


def bill(session: Session, tenant: Tenant, month: date = OCTOBER) -> statements.Bill:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    return statements.bill(session, caller, tenant.plus.id, month)


def test_a_month_is_closed_three_hours_after_its_end(session: Session, tenant: Tenant) -> None:
    close(session, CLOSING - timedelta(seconds=1))
    assert not bill(session, tenant).closed_at
    assert close(session, CLOSING) == 2
    assert close(session, CLOSING) == 0
    assert bill(session, tenant).closed_at == CLOSING


def test_a_closed_statement_stays_when_the_plan_and_the_usage_change(
    session: Session, tenant: Tenant
) -> None:
    call(session, tenant.plus, IN_OCTOBER, 12 * 60)
    close(session, CLOSING)
    before = bill(session, tenant)
    publish(session, tenant, CLOSING, PLUS=PlanTerms(100, "USD"))
    call(session, tenant.plus, IN_OCTOBER, 600)
    assert bill(session, tenant) == before
    used = StatementLine(LineKind.USAGE, 30, "minute", 12, 10, 2, 150_000)
    assert (before.lines, before.total) == ([PLAN_LINE, used], 9_930)


def test_late_usage_is_a_correction_in_the_next_statement_once(
    session: Session, tenant: Tenant
) -> None:
    call(session, tenant.plus, IN_OCTOBER, 12 * 60)
    close(session, CLOSING)
    call(session, tenant.plus, IN_OCTOBER, 3 * 60)
    close(session, NEXT_CLOSING)
    corrected = StatementLine(LineKind.CORRECTION, 45, "minute", month=OCTOBER)
    assert bill(session, tenant, NOVEMBER).lines[-1] == corrected
    assert bill(session, tenant).total == 9_930
    close(session, datetime(2027, 1, 1, 3, tzinfo=UTC))
    assert corrected not in bill(session, tenant, date(2026, 12, 1)).lines


def test_a_month_is_rated_by_the_plan_at_its_end(session: Session, tenant: Tenant) -> None:
    change = read(UpdateOrganizationInput, {"paymentTier": Tier.FREE.value})
    with set_clock() as clock:
        clock.set("2026-11-01T01:00:00")
        organizations.update(session, tenant.caller(Role.PARTNER_ADMIN), tenant.plus.id, change)
        close(session, CLOSING)
        clock.set("2026-12-01T03:00:00")
        close(session, NEXT_CLOSING)
    assert (bill(session, tenant).tier, bill(session, tenant).total) == (Tier.PLUS, 9_900)
    assert (bill(session, tenant, NOVEMBER).tier, bill(session, tenant, NOVEMBER).total) == (
        Tier.FREE,
        0,
    )


def test_invoice_numbers_have_no_gaps_and_statements_of_zero_have_none(
    session: Session, tenant: Tenant
) -> None:
    for month in (CLOSING, NEXT_CLOSING):
        close(session, month)
    query = select(Statement).order_by(Statement.month, Statement.total)
    assert [(each.month, each.total, each.number) for each in session.scalars(query)] == [
        (OCTOBER, 0, None),
        (OCTOBER, 9_900, 1),
        (NOVEMBER, 0, None),
        (NOVEMBER, 9_900, 2),
    ]


def test_each_partner_has_its_own_numbers(session: Session, tenant: Tenant) -> None:
    other_tenant = make_tenant(session, "Southgate")
    other_tenant.plus.created_at = tenant.plus.created_at
    publish(session, other_tenant, SINCE, PLUS=PLUS)
    close(session, CLOSING)
    assert [bill(session, each).number for each in (tenant, other_tenant)] == [1, 1]


def test_a_partner_without_published_plans_has_no_statements(session: Session) -> None:
    make_tenant(session, "Southgate")
    assert close(session, CLOSING) == 0


def test_an_archived_organization_pays_only_what_it_used(session: Session, tenant: Tenant) -> None:
    call(session, tenant.plus, IN_OCTOBER, 12 * 60)
    tenant.plus.status = OrganizationStatus.ARCHIVED
    session.flush()
    close(session, CLOSING)
    assert [line.kind for line in bill(session, tenant).lines] == [LineKind.USAGE]


@pytest.mark.parametrize(
    ("status", "charge"),
    [
        (SubscriptionStatus.ACTIVE, statements.StatementCharge(30, is_done=False, problem="")),
        (SubscriptionStatus.ENDED, None),
    ],
)
def test_usage_beyond_the_plan_is_charged_to_a_lasting_subscription(
    session: Session,
    tenant: Tenant,
    status: SubscriptionStatus,
    charge: statements.StatementCharge | None,
) -> None:
    call(session, tenant.plus, IN_OCTOBER, 12 * 60)
    subscription = Subscription(
        partner_id=tenant.partner.id,
        organization_id=tenant.plus.id,
        reference="sub_1",
        tier=Tier.PLUS,
        status=status,
        created_at=SINCE,
        seen_at=CLOSING,
    )
    session.add(subscription)
    close(session, CLOSING)
    assert bill(session, tenant).charge == charge


def end_subscription(session: Session, tenant: Tenant, at: datetime) -> None:
    """The subscription of Plus ends at that moment, and the plan becomes Free."""
    tenant.plus.payment_tier, tenant.plus.tier_since = Tier.FREE, at
    session.add(
        Subscription(
            partner_id=tenant.partner.id,
            organization_id=tenant.plus.id,
            reference="sub_1",
            tier=Tier.PLUS,
            status=SubscriptionStatus.ENDED,
            created_at=SINCE,
            seen_at=at,
            ended_at=at,
        )
    )
    session.flush()


def test_the_month_in_which_a_subscription_ends_has_its_plan_without_the_price(
    session: Session, tenant: Tenant
) -> None:
    """Stripe was paid for the plan. What is beyond it can no longer be added there."""
    free = PlanTerms(0, "USD", unit=UsageUnit.MINUTE, included=1, overage_micros=2_000_000)
    publish(session, tenant, SINCE, FREE=free)
    call(session, tenant.plus, IN_OCTOBER, 12 * 60)
    end_subscription(session, tenant, IN_OCTOBER + timedelta(days=1))
    call(session, tenant.plus, IN_NOVEMBER, 3 * 60)
    for moment in (CLOSING, NEXT_CLOSING):
        close(session, moment)
    october, november = bill(session, tenant), bill(session, tenant, NOVEMBER)
    used = StatementLine(LineKind.USAGE, 30, "minute", 12, 10, 2, 150_000)
    assert (october.tier, october.lines, october.charge) == (Tier.PLUS, [used], None)
    assert (november.tier, november.total, november.charge) == (Tier.FREE, 400, None)


def test_a_subscription_that_ends_before_a_past_month_is_closed_has_paid_it(
    session: Session, tenant: Tenant
) -> None:
    call(session, tenant.plus, IN_OCTOBER, 12 * 60)
    with set_clock() as clock:
        clock.now = CLOSING - timedelta(hours=2)
        change = read(UpdateOrganizationInput, {"paymentTier": Tier.FREE.value})
        organizations.update(session, tenant.caller(Role.PARTNER_ADMIN), tenant.plus.id, change)
        end_subscription(session, tenant, clock.now)
    close(session, CLOSING)
    october = bill(session, tenant)
    assert (october.tier, october.total) == (Tier.PLUS, 9_930)
    assert october.charge == statements.StatementCharge(30, is_done=False, problem="")


def test_a_subscription_that_begins_before_a_past_month_is_closed_does_not_pay_it(
    session: Session, tenant: Tenant
) -> None:
    session.add(
        Subscription(
            partner_id=tenant.partner.id,
            organization_id=tenant.plus.id,
            reference="sub_1",
            tier=Tier.PLUS,
            status=SubscriptionStatus.ACTIVE,
            created_at=CLOSING - timedelta(hours=2),
            seen_at=CLOSING,
        )
    )
    close(session, CLOSING)
    assert (bill(session, tenant).total, bill(session, tenant).charge) == (9_900, None)


def test_usage_reported_after_the_end_of_a_subscription_is_invoiced_by_the_partner(
    session: Session, tenant: Tenant
) -> None:
    call(session, tenant.plus, IN_OCTOBER, 12 * 60)
    end_subscription(session, tenant, IN_OCTOBER + timedelta(days=1))
    close(session, CLOSING)
    call(session, tenant.plus, IN_OCTOBER, 3 * 60)
    close(session, NEXT_CLOSING)
    november = bill(session, tenant, NOVEMBER)
    corrected = StatementLine(LineKind.CORRECTION, 45, "minute", month=OCTOBER)
    assert [line for line in november.lines if line.amount] == [corrected]
    assert (november.total, november.number, november.charge) == (45, 2, None)


def test_a_plan_that_is_chosen_after_the_end_of_a_subscription_counts_for_the_month(
    session: Session, tenant: Tenant
) -> None:
    end_subscription(session, tenant, IN_OCTOBER)
    tenant.plus.payment_tier = Tier.PLUS
    session.flush()
    close(session, CLOSING)
    assert bill(session, tenant).total == 9_900


def test_closing_a_month_is_one_entry_of_the_history(session: Session, tenant: Tenant) -> None:
    close(session, CLOSING)
    entries = session.scalars(select(AuditEntry).where(AuditEntry.action == "partner.month_closed"))
    assert [(entry.target, entry.after) for entry in entries] == [
        (tenant.partner.name, {"month": "2026-10", "statements": 2})
    ]


def test_a_preview_shows_this_month_so_far(session: Session, tenant: Tenant) -> None:
    with set_clock() as clock:
        clock.set("2026-11-20T12:00:00")
        call(session, tenant.plus, IN_NOVEMBER, 12 * 60)
        member = statements.current_month(
            session, tenant.caller(Role.PARTNER_ADMIN), tenant.plus.id
        )
    assert (member.month, member.total, member.closed_at) == (NOVEMBER, 9_930, None)
    assert member.usage == StatementLine(LineKind.USAGE, 30, "minute", 12, 10, 2, 150_000)


def test_a_member_sees_only_the_statements_of_their_organization(
    session: Session, tenant: Tenant
) -> None:
    member = tenant.caller(Role.STANDARD)
    assert statements.bill(session, member, tenant.organization.id, OCTOBER).total == 0
    with pytest.raises(NotFound):
        statements.bill(session, member, tenant.plus.id, OCTOBER)
    with pytest.raises(Forbidden):
        statements.bill(
            session, tenant.caller(Role.STANDARD, frozenset()), tenant.organization.id, OCTOBER
        )


def test_a_statement_of_another_partner_is_not_found(session: Session, tenant: Tenant) -> None:
    stranger = make_tenant(session, "Southgate").caller(Role.PARTNER_ADMIN)
    with pytest.raises(NotFound):
        statements.bill(session, stranger, tenant.plus.id, OCTOBER)
