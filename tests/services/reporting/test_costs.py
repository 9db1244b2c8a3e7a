"""Carrier costs are stored once, summed exactly, and the same on all pages."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallSource, CallStatus, CarrierKind, Role
from app.errors import NotFound
from app.gateways.carriers.base import CarrierReport, PlacementVerdict
from app.models import Assistant, Call, CallAttempt, CostDay, Organization, PartnerCostDay, utcnow
from app.services import reporting
from app.services.calls import carrier_costs
from app.services.reporting import CurrencyCost, DaySpan
from tests.fixtures.recount import recount
from tests.fixtures.tenants import Tenant, make_tenant

MAY, JUNE = date(2026, 5, 31), date(2026, 6, 1)
SPAN = DaySpan(date(2026, 5, 1), date(2026, 6, 30))


@pytest.fixture
def other_tenant(session: Session, tenant: Tenant) -> Tenant:
    return make_tenant(session, "Southbank")


def attempt(session: Session, organization: Organization, day: date, hour: int = 23) -> CallAttempt:
    assistant = session.scalars(
        select(Assistant).where(Assistant.organization_id == organization.id)
    ).first()
    assert assistant is not None
    call = Call(
        partner_id=organization.partner_id,
        organization_id=organization.id,
        assistant_id=assistant.id,
        source=CallSource.API,
        carrier=CarrierKind.TWILIO,
        requested_by="tests",
        phone_number="+12025550123",
        contact={},
        status=CallStatus.COMPLETED,
        expires_at=utcnow(),
    )
    session.add(call)
    session.flush()
    made = CallAttempt(
        organization_id=organization.id,
        call_id=call.id,
        number=1,
        carrier=CarrierKind.TWILIO,
        status=CallStatus.COMPLETED,
        started_at=datetime(day.year, day.month, day.day, hour, 59, tzinfo=UTC),
    )
    session.add(made)
    session.flush()
    return made


def charge(
    session: Session,
    organization: Organization,
    day: date,
    cost: str,
    currency: str | None = "USD",
) -> None:
    known = CarrierReport(PlacementVerdict.PLACED, "CA1", cost=Decimal(cost), currency=currency)
    carrier_costs.write_cost_of(session, attempt(session, organization, day).id, known)


def monthly(
    session: Session, tenant: Tenant, span: DaySpan = SPAN
) -> list[tuple[str, str, int, str]]:
    found = reporting.by_month(session, tenant.caller(Role.ADMIN), span)
    return [
        (f"{each.month:%m}", each.cost.currency, each.cost.attempts, each.cost.amount)
        for each in found
    ]


def test_the_cost_of_an_attempt_is_summed_once_on_the_day_it_started(
    session: Session, tenant: Tenant
) -> None:
    made = attempt(session, tenant.plus, MAY)
    first = CarrierReport(PlacementVerdict.PLACED, "CA1", cost=Decimal("0.0135"), currency="USD")
    for message in (
        CarrierReport(PlacementVerdict.PLACED, "CA1"),
        first,
        first,
        CarrierReport(PlacementVerdict.PLACED, "CA1", cost=Decimal(9), currency="EUR"),
    ):
        carrier_costs.write_cost_of(session, made.id, message)
    assert (made.cost, made.cost_currency) == (Decimal("0.0135"), "USD")
    kept: list[CostDay | PartnerCostDay] = [
        session.scalars(select(CostDay)).one(),
        session.scalars(select(PartnerCostDay)).one(),
    ]
    assert [(row.day, row.currency, row.attempts, row.micros) for row in kept] == [
        (MAY, "USD", 1, 13_500)
    ] * 2


def test_sums_are_exact_by_month_and_currency(
    session: Session, tenant: Tenant, other_tenant: Tenant
) -> None:
    for _call in range(30):
        charge(session, tenant.plus, MAY, "0.1")
    charge(session, tenant.organization, MAY, "0.000001")
    charge(session, tenant.organization, JUNE, "1.25")
    charge(session, tenant.organization, JUNE, "2", "EUR")
    charge(session, tenant.organization, JUNE, "3", None)
    charge(session, other_tenant.plus, JUNE, "50")
    assert monthly(session, tenant) == [
        ("06", "EUR", 1, "2.00"),
        ("06", "USD", 1, "1.25"),
        ("06", "XXX", 1, "3.00"),
        ("05", "USD", 31, "3.000001"),
    ]
    assert monthly(session, tenant, DaySpan(JUNE, JUNE))[:2] == [
        ("06", "EUR", 1, "2.00"),
        ("06", "USD", 1, "1.25"),
    ]
    assert monthly(session, tenant, DaySpan(date(2026, 5, 1), date(2026, 5, 30))) == []


def test_the_lines_of_the_file_are_what_the_months_sum(
    session: Session, tenant: Tenant, other_tenant: Tenant
) -> None:
    for organization, day, cost in (
        (tenant.plus, MAY, "0.5"),
        (tenant.plus, JUNE, "0.25"),
        (tenant.organization, JUNE, "0.125"),
        (other_tenant.plus, JUNE, "50"),
    ):
        charge(session, organization, day, cost)
    caller = tenant.caller(Role.ADMIN)
    lines = [line for batch in reporting.cost_lines(session, caller, SPAN) for line in batch]
    assert [(line.name, line.month.month, line.cost.amount) for line in lines] == [
        ("Northwind Bakery", 6, "0.125"),
        ("Northwind Dental", 6, "0.25"),
        ("Northwind Dental", 5, "0.50"),
    ]
    months = reporting.by_month(session, caller, SPAN)
    assert reporting.totals(line.cost for line in lines) == reporting.totals(
        each.cost for each in months
    )
    ids = [tenant.plus.id, tenant.organization.id]
    by_id = reporting.by_organization_ids(session, SPAN, ids)
    assert by_id == {
        tenant.plus.id: [CurrencyCost("USD", 2, 750_000)],
        tenant.organization.id: [CurrencyCost("USD", 1, 125_000)],
    }
    assert (
        reporting.subtract_costs(
            reporting.totals(by_id[tenant.plus.id]), [CurrencyCost("USD", 2, 750_000)]
        )
        == []
    )
    [part] = reporting.by_month(session, caller, DaySpan(MAY, MAY), tenant.plus.id)
    assert part.cost == CurrencyCost("USD", 1, 500_000)


def test_customers_do_not_see_the_carrier_costs_of_the_partner(
    session: Session, tenant: Tenant, other_tenant: Tenant
) -> None:
    charge(session, tenant.plus, MAY, "0.5")
    charge(session, tenant.organization, MAY, "0.25")
    caller = tenant.caller(Role.STANDARD)
    for whose in (None, tenant.organization.id):
        assert reporting.by_month(session, caller, SPAN, whose) == []
        assert list(reporting.cost_lines(session, caller, SPAN, whose)) == []
    for theirs in (tenant.plus.id, other_tenant.plus.id):
        with pytest.raises(NotFound):
            reporting.by_month(session, caller, SPAN, theirs)
        with pytest.raises(NotFound):
            list(reporting.cost_lines(session, caller, SPAN, theirs))


def test_counting_again_gives_the_same_sums(session: Session, tenant: Tenant) -> None:
    charge(session, tenant.plus, MAY, "0.5")
    charge(session, tenant.organization, MAY, "0.25")
    before = monthly(session, tenant)
    recount(session, tenant.partner.id)
    assert monthly(session, tenant) == before == [("05", "USD", 2, "0.75")]
