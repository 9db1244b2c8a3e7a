"""The prices of a partner's plans: those of its published plans, otherwise the payment processor's
last known ones, or the price list.

Nothing outside is called here; a worker refreshes the stored prices of an outside processor.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Tier
from app.gateways.processors.base import Price, PriceReference, Processor
from app.gateways.processors.price_list import PriceList
from app.models import Pricing, ProcessorCheck, ProcessorPrice
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas.figures import PricingOption
from app.services import partners
from app.services.pricing import accounts, versions
from app.services.pricing.plans import Plan


class PriceStatus(StrEnum):
    """The source and state of a price: from the built-in list, or from the processor."""

    BUILT_IN = "built_in"
    PUBLISHED = "published"
    """The published plan sells this price id."""
    KNOWN = "known"
    NOT_ASKED = "not_asked"
    UNKNOWN = "unknown"
    """The processor has no such price; the last known one is used, if there is one."""
    OTHER_PRODUCT = "other_product"
    """It is the price of another product than the entry names."""


@dataclass(frozen=True, slots=True)
class PlanPrice:
    """One entry of a partner's pricing. ``price`` is None until an outside processor has sent it;
    ``known_since`` is when it last did, None for the built-in list."""

    tier: Tier
    price_id: str
    product_id: str
    price: Price | None
    known_since: datetime | None
    status: PriceStatus


def options(
    session: Session, caller: Caller, partner_id: UUID, processor: Processor | None = None
) -> list[PricingOption]:
    """Return one option for each entry of the partner's pricing with a known price, in order.

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
    """Return the entries with their prices and how old these are, for a screen."""
    caller.require(Permission.PRICING_READ)
    partners.check(session, caller, partner_id)
    entries = session.scalars(
        select(Pricing).where(Pricing.partner_id == partner_id).order_by(Pricing.position)
    ).all()
    source = processor or PriceList()
    sold = {plan.tier: plan for plan in versions.live(session, partner_id)}
    if not source.is_outside and not accounts.is_connected(session, partner_id):
        known = source.prices(
            PriceReference(e.tier, e.processor_price_id, e.processor_product_id) for e in entries
        )
        return [
            _published(entry, sold[entry.tier])
            if entry.tier in sold
            else _plan(entry, known.get(entry.processor_price_id), None, PriceStatus.BUILT_IN)
            for entry in entries
        ]
    ids = {entry.processor_price_id for entry in entries}
    stored = {
        row.price_id: row
        for row in session.scalars(select(ProcessorPrice).where(ProcessorPrice.price_id.in_(ids)))
    }
    checks = {
        row.price_id: row.found
        for row in session.scalars(select(ProcessorCheck).where(ProcessorCheck.price_id.in_(ids)))
    }
    return [
        _published(entry, sold[entry.tier])
        if entry.tier in sold and sold[entry.tier].price_id == entry.processor_price_id
        else _stored_plan(entry, stored.get(entry.processor_price_id), checks)
        for entry in entries
    ]


def _published(entry: Pricing, plan: Plan) -> PlanPrice:
    terms = plan.terms
    price = Price(plan.name, terms.cost, terms.currency, entry.processor_product_id)
    return _plan(entry, price, None, PriceStatus.PUBLISHED)


def _stored_plan(
    entry: Pricing, row: ProcessorPrice | None, checks: Mapping[str, bool]
) -> PlanPrice:
    found = checks.get(entry.processor_price_id)
    if found is False:
        status = PriceStatus.UNKNOWN
    elif row is None:
        status = PriceStatus.NOT_ASKED
    elif row.product_id not in (None, entry.processor_product_id):
        status = PriceStatus.OTHER_PRODUCT
    else:
        status = PriceStatus.KNOWN
    price = Price(row.name, row.cost, row.currency, row.product_id) if row else None
    return _plan(entry, price, row.fetched_at if row else None, status)


def _plan(
    entry: Pricing, price: Price | None, known_since: datetime | None, status: PriceStatus
) -> PlanPrice:
    return PlanPrice(
        entry.tier,
        entry.processor_price_id,
        entry.processor_product_id,
        price,
        known_since,
        status,
    )
