"""Refresh the last known prices of an external processor; the worker requests them in between."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from app.gateways.processors.base import ListedPrice, PriceReference
from app.models import Pricing, ProcessorAccount, ProcessorCheck, ProcessorPrice, utcnow
from app.services.pricing.plans import LOCAL_ID
from app.services.uniqueness import insert_into

FRESH_FOR = timedelta(minutes=10)
BATCH_SIZE = 20


def due(session: Session, partner_id: UUID | None = None) -> list[PriceReference]:
    """Return the next price ids to request: new ones first, then outdated ones.

    Of a partner with its own account, otherwise of all partners without one.
    """
    before = utcnow() - FRESH_FOR
    statement = (
        select(
            Pricing.processor_price_id,
            func.min(Pricing.tier),
            func.min(Pricing.processor_product_id),
        )
        .outerjoin(
            ProcessorCheck,
            (ProcessorCheck.partner_id == Pricing.partner_id)
            & (ProcessorCheck.price_id == Pricing.processor_price_id),
        )
        .outerjoin(ProcessorAccount, ProcessorAccount.partner_id == Pricing.partner_id)
        .where(
            ProcessorAccount.partner_id == partner_id
            if partner_id
            else ProcessorAccount.partner_id.is_(None),
            ~Pricing.processor_price_id.startswith(LOCAL_ID, autoescape=True),
        )
        .where(or_(ProcessorCheck.asked_at.is_(None), ProcessorCheck.asked_at < before))
        .group_by(Pricing.processor_price_id)
        .order_by(func.min(ProcessorCheck.asked_at).asc().nulls_first())
        .limit(BATCH_SIZE)
    )
    return [
        PriceReference(tier, price, product) for price, tier, product in session.execute(statement)
    ]


def connected_partners(session: Session) -> Sequence[UUID]:
    """Return the partners with their own account."""
    return session.scalars(select(ProcessorAccount.partner_id)).all()


def store_prices(
    session: Session,
    partner_id: UUID | None,
    references: Sequence[PriceReference],
    prices: Mapping[str, ListedPrice],
) -> None:
    """Store the answer of the partner's processor; without a partner, that of the installation's
    for all partners without an account whose ``pricing`` names the ids. An id that the processor
    doesn't know keeps its last known price."""
    now, ids = utcnow(), [reference.price_id for reference in references]
    pairs = [(partner_id, price_id) for price_id in ids] if partner_id else _named(session, ids)
    pairs.sort()  # a fixed order: concurrent answers don't deadlock
    checks = [
        {
            "partner_id": owner_id,
            "price_id": price_id,
            "found": price_id in prices,
            "asked_at": now,
        }
        for owner_id, price_id in pairs
    ]
    known = [
        {
            "partner_id": owner_id,
            "price_id": price_id,
            "product_id": price.product_id,
            "name": price.name[:200],
            "cost": price.cost,
            "currency": price.currency,
            "interval": price.interval,
            "fetched_at": now,
        }
        for owner_id, price_id in pairs
        if (price := prices.get(price_id))
    ]
    _write(session, ProcessorCheck, checks)
    _write(session, ProcessorPrice, known)


def _write(
    session: Session,
    table: type[ProcessorCheck | ProcessorPrice],
    rows: Sequence[Mapping[str, Any]],
) -> None:
    """Write rows, also while another worker writes them."""
    if not rows:
        return
    statement, key = insert_into(session, table), ("partner_id", "price_id")
    new = {name: statement.excluded[name] for name in rows[0] if name not in key}
    session.execute(statement.on_conflict_do_update(index_elements=key, set_=new), rows)


def _named(session: Session, price_ids: Sequence[str]) -> list[tuple[UUID, str]]:
    """Return the partners without an account, each with one of the ids that its ``pricing``
    names."""
    statement = (
        select(Pricing.partner_id, Pricing.processor_price_id)
        .outerjoin(ProcessorAccount, ProcessorAccount.partner_id == Pricing.partner_id)
        .where(ProcessorAccount.partner_id.is_(None), Pricing.processor_price_id.in_(price_ids))
        .distinct()
    )
    return [(partner_id, price_id) for partner_id, price_id in session.execute(statement)]
