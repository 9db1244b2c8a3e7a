"""What a partner's plans cost: the last known prices of the payment processor, or the price list.

Nothing outside is asked here; a worker keeps the table of an outside processor's prices fresh.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.caller import Caller
from app.enums import Tier
from app.gateways.processors.base import Price, PriceQuestion, Processor
from app.gateways.processors.price_list import PriceList
from app.models import Pricing, ProcessorPrice
from app.policy import Permission
from app.schemas.figures import PricingOption
from app.services import partners

TIER_NAMES: dict[Tier, str] = {
    Tier.FREE: "Free",
    Tier.BASIC: "Basic",
    Tier.PLUS: "Plus",
    Tier.BASIC_TRIAL: "Basic trial",
}
"""The plans' display names."""


@dataclass(frozen=True, slots=True)
class PlanPrice:
    """One entry of a partner's pricing. ``price`` is None while an outside processor has not
    told it yet; ``known_since`` is when it told it, None for the built-in list."""

    tier: Tier
    price_id: str
    product_id: str
    price: Price | None
    known_since: datetime | None


def options(
    session: Session, caller: Caller, partner_id: UUID, processor: Processor | None = None
) -> list[PricingOption]:
    """One option for each entry of the partner's pricing whose price is known, in its order.

    Raises `NotFound` for another's partner.
    """
    return [
        PricingOption.model_construct(
            cost=float(plan.price.cost),
            currency=plan.price.currency,
            payment_tier=plan.tier.value,
            name=plan.price.name,
        )
        for plan in plans(session, caller, partner_id, processor)
        if plan.price is not None
    ]


def plans(
    session: Session, caller: Caller, partner_id: UUID, processor: Processor | None = None
) -> Sequence[PlanPrice]:
    """The entries with their prices, for a screen that tells how old they are."""
    caller.require(Permission.PRICING_READ)
    partners.check(session, caller, partner_id)
    entries = session.scalars(
        select(Pricing).where(Pricing.partner_id == partner_id).order_by(Pricing.position)
    ).all()
    source = processor or PriceList()
    if not source.is_outside:
        known = source.prices(
            PriceQuestion(e.tier, e.processor_price_id, e.processor_product_id) for e in entries
        )
        return [_plan(entry, known.get(entry.processor_price_id), None) for entry in entries]
    ids = {entry.processor_price_id for entry in entries}
    stored = {
        row.price_id: row
        for row in session.scalars(select(ProcessorPrice).where(ProcessorPrice.price_id.in_(ids)))
    }
    return [_stored_plan(entry, stored.get(entry.processor_price_id)) for entry in entries]


def _stored_plan(entry: Pricing, row: ProcessorPrice | None) -> PlanPrice:
    if row is None:
        return _plan(entry, None, None)
    return _plan(entry, Price(row.name, row.cost, row.currency), row.fetched_at)


def _plan(entry: Pricing, price: Price | None, known_since: datetime | None) -> PlanPrice:
    return PlanPrice(
        entry.tier, entry.processor_price_id, entry.processor_product_id, price, known_since
    )
