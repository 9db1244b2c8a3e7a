"""The contract's pricing options: the price of each plan that a partner's ``pricing`` lists.

No processor is called here; a worker refreshes the stored prices of an external one.
"""

from collections.abc import Iterator
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Tier
from app.gateways.processors.base import ListedPrice, PaymentProcessor, PriceReference
from app.gateways.processors.price_list import PriceList
from app.models import Pricing
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas.figures import PricingOption
from app.services import partners
from app.services.pricing import accounts, versions
from app.services.pricing.published_plans import known_prices


def options(
    session: Session, caller: Caller, partner_id: UUID, processor: PaymentProcessor | None = None
) -> list[PricingOption]:
    """Return one option for each entry of the partner's pricing with a known price, in order.

    A published plan is the price of its id, and of every id without an outside processor. Other ids
    have the processor's last known price, or that of the built-in list. Raises `Forbidden`,
    `NotFound` for another's partner.
    """
    caller.require(Permission.PRICING_READ)
    partners.check(session, caller, partner_id)
    return [
        PricingOption.model_construct(
            cost=float(price.cost),
            currency=price.currency,
            payment_tier=tier.value,
            name=price.name,
        )
        for tier, price in _load_prices(session, partner_id, processor or PriceList())
    ]


def _load_prices(
    session: Session, partner_id: UUID, source: PaymentProcessor
) -> Iterator[tuple[Tier, ListedPrice]]:
    query = select(Pricing).where(Pricing.partner_id == partner_id).order_by(Pricing.position)
    entries = session.scalars(query).all()
    published = {plan.tier: plan for plan in versions.live(session, partner_id)}
    is_outside = source.is_outside or accounts.is_connected(session, partner_id)
    ids = [entry.processor_price_id for entry in entries]
    stored = known_prices(session, partner_id, ids)
    for entry in entries:
        plan, price_id = published.get(entry.tier), entry.processor_price_id
        if plan and (not is_outside or plan.price_id == price_id):
            yield entry.tier, ListedPrice(plan.name, plan.terms.cost, plan.terms.currency)
        elif not is_outside:
            reference = PriceReference(entry.tier, price_id, entry.processor_product_id)
            yield entry.tier, PriceList().prices([reference])[price_id]
        elif price_id in stored:
            price = stored[price_id]
            yield entry.tier, ListedPrice(price.name, price.cost, price.currency)
