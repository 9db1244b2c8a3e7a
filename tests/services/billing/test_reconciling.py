"""A sheet of 1,000 calls: the statement, the costs and the margin agree with it to the cent.

The sheet is added up here in whole millionths, by none of the code that it checks.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy.orm import Session

from app.enums import Role, UsageUnit
from app.models import NO_CAMPAIGN, Campaign
from app.policy.caller import Caller
from app.services.billing import closing, margin, statements
from app.services.billing.usage import CarrierCost, ModelRate
from app.services.pricing.plans import PlanTerms
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.tenants import Tenant
from tests.matrix import rotating
from tests.services.billing.conftest import call, publish

SHEET = Path(__file__).parents[2] / "files" / "billing-1000-calls.csv"
OCTOBER = date(2026, 10, 1)
RATE = 30_000
"""Millionths a minute: the default call rate to the United States."""
MODEL = ModelRate(micros_per_minute=4_000, micros_per_call=1_500)
PRICE, INCLUDED, OVERAGE = 9_900, 1_200, 135_000


@dataclass
class Sum:
    """The sums of a campaign's rows."""

    calls: int = 0
    minutes: int = 0
    reported: int = 0
    estimated: int = 0


def rows() -> list[dict[str, str]]:
    with SHEET.open() as file:
        return list(csv.DictReader(file))


def added_up() -> dict[str, Sum]:
    sums: dict[str, Sum] = {}
    for row in rows():
        found = sums.setdefault(row["campaign"], Sum())
        minutes = 0
        if row["answered_seconds"]:
            minutes = (int(row["answered_seconds"]) + 59) // 60
            found.calls += 1
            found.minutes += minutes
        if row["carrier_cost"]:
            whole, millionths = row["carrier_cost"].split(".")
            found.reported += int(whole) * 1_000_000 + int(millionths)
        else:
            found.estimated += minutes * RATE
    return sums


backend = runs_on(rotating("database of the sheet", BACKENDS))
"""One of the two: 1,000 calls take some seconds."""


@pytest.fixture
def campaigns(session: Session, tenant: Tenant) -> Mapping[str, UUID]:
    made = {"": NO_CAMPAIGN}
    for name in ("Renewals", "Reminders"):
        campaign = Campaign(partner_id=tenant.partner.id, organization_id=tenant.plus.id, name=name)
        session.add(campaign)
        session.flush()
        made[name] = campaign.id
    return made


@pytest.mark.alternating
def test_a_sheet_of_1000_calls_reconciles_to_the_cent(
    session: Session, tenant: Tenant, campaigns: Mapping[str, UUID]
) -> None:
    terms = PlanTerms(
        PRICE, "USD", unit=UsageUnit.MINUTE, included=INCLUDED, overage_micros=OVERAGE
    )
    publish(session, tenant, datetime(2026, 10, 1, tzinfo=UTC), PLUS=terms)
    for row in rows():
        call(
            session,
            tenant.plus,
            datetime.fromisoformat(row["started_at"]),
            int(row["answered_seconds"]) if row["answered_seconds"] else None,
            campaign_id=campaigns[row["campaign"]] if row["campaign"] else None,
            cost=row["carrier_cost"] or None,
        )
    while closing.close_due(session, datetime(2026, 11, 1, 3, tzinfo=UTC)):
        pass

    sums = added_up()
    calls = sum(each.calls for each in sums.values())
    minutes = sum(each.minutes for each in sums.values())
    cents = PRICE + ((minutes - INCLUDED) * OVERAGE + 5_000) // 10_000
    admin: Caller = tenant.caller(Role.PARTNER_ADMIN)

    statement = statements.bill(session, admin, tenant.plus.id, OCTOBER)
    assert len(rows()) == 1_000
    assert (statement.total, statement.number) == (cents, 1)
    assert [(line.kind.value, line.used, line.amount) for line in statement.lines] == [
        ("plan", 31, PRICE),
        ("usage", minutes, cents - PRICE),
    ]

    found = margin.of_organization(session, admin, tenant.plus.id, OCTOBER, MODEL)
    reported = sum(each.reported for each in sums.values())
    estimated = sum(each.estimated for each in sums.values())
    model = minutes * 4_000 + calls * 1_500
    assert (found.total.used.calls, found.total.used.minutes) == (calls, minutes)
    assert found.total.carrier == (CarrierCost("USD", reported, estimated),)
    assert (found.total.price, found.total.model) == (cents * 10_000, model)
    assert found.total.margin == cents * 10_000 - reported - estimated - model
    assert {
        each.id: Sum(each.used.calls, each.used.minutes, cost.reported, cost.estimated)
        for each in found.campaigns
        for cost in each.carrier
    } == {campaigns[name]: each for name, each in sums.items()}
    assert sum(each.price for each in found.campaigns) == found.total.price
