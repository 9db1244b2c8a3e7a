"""Costs are shown in cents that add up to their total, checked with a sheet made by hand."""

from datetime import UTC, date, datetime

import pytest
from sqlalchemy.orm import Session

from app.enums import Role
from app.services.billing import margin
from app.services.billing.summing import rounded_parts
from app.services.billing.usage import ModelRate
from tests.fixtures.tenants import Tenant
from tests.services.billing.conftest import call

SHEET = {
    # millionths, in the currency: what the rows show, which sums up to the rounded sum
    ("USD", (804_400, 4_814_300, 12_584_200)): (810_000, 4_810_000, 12_580_000),  # 18.2029: 18.20
    ("USD", (12_644_000, 4_813_000, 803_000)): (12_650_000, 4_810_000, 800_000),  # 18.2600: 18.26
    ("USD", (5_000, 5_000, 5_000)): (10_000, 10_000, 0),  # 0.015: 0.02
    ("JPY", (400_000, 400_000, 400_000)): (1_000_000, 0, 0),  # 1.2: 1
    ("KWD", (1_500, 1_499)): (2_000, 1_000),  # 0.002999: 0.003
    ("USD", (-4_000, 14_000)): (0, 10_000),  # 0.01
    ("USD", (0, 0)): (0, 0),
    ("USD", ()): (),
}


@pytest.mark.parametrize(("given", "shown"), SHEET.items())
def test_rounded_rows_sum_up_to_the_rounded_total(
    given: tuple[str, tuple[int, ...]], shown: tuple[int, ...]
) -> None:
    currency, amounts = given
    assert tuple(rounded_parts(amounts, currency)) == shown


def test_costs_and_margins_of_organizations_sum_up_to_those_of_all(
    session: Session, tenant: Tenant
) -> None:
    at = datetime(2026, 10, 20, 12, tzinfo=UTC)
    call(session, tenant.organization, at, 60, cost="0.8044")
    call(session, tenant.plus, at, 60, cost="4.8143")
    model = ModelRate(3_700, 0)  # $0.0037 for each of the two minutes: $0.0074
    admin = tenant.caller(Role.PARTNER_ADMIN)
    rows = margin.all_organizations(session, admin, date(2026, 10, 1), model)
    used = [row for row in rows if row.carrier]
    assert sorted(row.carrier_micros for row in used) == [810_000, 4_810_000]  # 5.6187: 5.62
    assert sorted(row.model for row in used) == [0, 10_000]
    total = margin.total(rows)
    assert total
    assert (total.carrier_micros, total.model) == (5_620_000, 10_000)
    assert total.margin == sum(row.margin or 0 for row in rows)
