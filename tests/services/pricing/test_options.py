"""What a plan costs: from the processor's table, or from the built-in price list."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy.orm import Session

from app.enums import Role, Tier
from app.errors import NotFound
from app.gateways.processors.base import ListedPrice, PriceReference
from app.gateways.processors.price_list import PriceList
from app.models import Partner, ProcessorPrice, utcnow
from app.services import pricing
from tests.fixtures.tenants import caller_with, make_partner, make_tenant

PRICING = [
    {"tier": tier, "processorPriceId": f"price_{tier}", "processorProductId": f"prod_{tier}"}
    for tier in (Tier.PLUS.value, Tier.FREE.value, Tier.BASIC.value)
]


class OutsideProcessor:
    """Somewhere else: asked by a worker only."""

    name = "outside"
    is_outside = True

    def prices(self, questions: Iterable[PriceReference]) -> Mapping[str, ListedPrice]:
        message = f"nothing outside is asked inside a request: {list(questions)}"
        raise AssertionError(message)


def options(
    session: Session, partner: Partner | None = None, **more: Any
) -> list[tuple[float, str, str, str]]:
    partner = partner or make_partner(session, pricing=PRICING)
    caller = caller_with(Role.OPERATOR, None)
    found = pricing.options(session, caller, partner.id, **more)
    return [(o.cost, o.currency, o.payment_tier, o.name) for o in found]


def test_the_price_list_prices_every_plan_in_the_partners_order(session: Session) -> None:
    assert options(session) == [
        (99.0, "USD", "customerPlusPlan", "Plus"),
        (0.0, "USD", "customerFreePlan", "Free"),
        (29.0, "USD", "customerBasicPlan", "Basic"),
    ]


def test_the_price_list_says_that_it_is_local() -> None:
    assert (PriceList().name, PriceList().is_outside) == ("built-in price list", False)


def test_of_an_outside_processor_the_last_known_prices_are_shown(session: Session) -> None:
    partner, other = (make_partner(session, name, pricing=PRICING) for name in ("North", "South"))
    session.add(
        ProcessorPrice(
            partner_id=partner.id,
            price_id="price_customerPlusPlan",
            name="Plus, yearly",
            cost=Decimal("948.50"),
            currency="EUR",
            fetched_at=utcnow(),
        )
    )
    session.flush()
    assert options(session, partner, processor=OutsideProcessor()) == [
        (948.5, "EUR", "customerPlusPlan", "Plus, yearly")
    ]
    assert options(session, other, processor=OutsideProcessor()) == []


def test_a_partner_without_pricing_has_no_options(session: Session) -> None:
    tenant = make_tenant(session)
    assert pricing.options(session, tenant.caller(Role.ADMIN), tenant.partner.id) == []


def test_another_partners_prices_are_not_shown(session: Session) -> None:
    tenant, other_tenant = make_tenant(session), make_partner(session, "Southbank", pricing=PRICING)
    with pytest.raises(NotFound) as refused:
        pricing.options(session, tenant.caller(Role.PARTNER_ADMIN), other_tenant.id)
    assert refused.value.code == "partner_not_found"
