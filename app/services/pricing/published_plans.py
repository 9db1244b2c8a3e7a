"""Reading the plans that a partner has published, alone or joined with other data of a query."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, Select, select
from sqlalchemy.orm import Session

from app.database import read_once
from app.enums import TIER_NAMES, Tier
from app.gateways.processors.currencies import decimals
from app.gateways.processors.price_list import PRICES
from app.models import Partner, PlanVersion, Pricing, ProcessorPrice, utcnow
from app.services.pricing.plans import EditedPlan, PlanTerms

BY_SIZE = (Tier.FREE, Tier.BASIC_TRIAL, Tier.BASIC, Tier.PLUS)


def published(session: Session, partner_id: UUID, at: datetime | None = None) -> list[EditedPlan]:
    """Return every plan as published at that moment, in order; now if none is given.

    Before the first version, they are the prices of the partner's ``pricing``, or the built-in
    price list. Read once per read-only transaction.
    """
    moment = None if at is None or at >= utcnow() else at  # no version is published later than now
    key = ("plans", partner_id, moment)
    return read_once(session, key, lambda: _published(session, partner_id, moment))


def _published(session: Session, partner_id: UUID, at: datetime | None) -> list[EditedPlan]:
    partner = select(Partner.id).where(Partner.id == partner_id)
    return _read_plans(session, partner_id, session.execute(with_published(partner, at)).all())


def with_published(rows: Select[Any], at: datetime | None = None) -> Select[Any]:
    """Return a query of a `Partner` with the columns from which `remember_published` reads its
    plans. Without a version there is a row for each price."""
    last = select(PlanVersion.id).where(
        PlanVersion.partner_id == Partner.id, PlanVersion.published_at.is_not(None)
    )
    if at is not None:
        last = last.where(PlanVersion.published_at <= at)
    newest = last.order_by(PlanVersion.number.desc()).limit(1).correlate(Partner)
    return (
        rows.add_columns(PlanVersion, Pricing)
        .outerjoin(PlanVersion, PlanVersion.id == newest.scalar_subquery())
        .outerjoin(Pricing, (Pricing.partner_id == Partner.id) & PlanVersion.id.is_(None))
        .order_by(Pricing.position)
    )


def remember_published(session: Session, partner_id: UUID, rows: Sequence[Row[Any]]) -> None:
    """Keep the plans in rows of `with_published`, which may repeat them, for `published` in a
    read-only transaction."""
    read_once(session, ("plans", partner_id, None), lambda: _read_plans(session, partner_id, rows))


def remember_published_of(session: Session, partner_ids: Collection[UUID]) -> None:
    """Read the plans of several partners in one query, for `published` in a read-only
    transaction."""
    if not partner_ids:
        return
    query = with_published(select(Partner.id).where(Partner.id.in_(partner_ids)))
    rows_by_partner: defaultdict[UUID, list[Row[Any]]] = defaultdict(list)
    for row in session.execute(query):
        rows_by_partner[row.id].append(row)
    for partner_id, rows in rows_by_partner.items():
        remember_published(session, partner_id, rows)


def _read_plans(session: Session, partner_id: UUID, rows: Sequence[Row[Any]]) -> list[EditedPlan]:
    version = rows[0].PlanVersion if rows else None
    if version is not None:
        return plans_of(version)
    entries = [row.Pricing for row in rows if row.Pricing is not None]
    return _initial_plans(session, partner_id, entries)


def plans_of(version: PlanVersion) -> list[EditedPlan]:
    texts = version.texts or {}
    return [EditedPlan.stored(values, texts.get(values["tier"], {})) for values in version.plans]


def known_prices(
    session: Session, partner_id: UUID, ids: Collection[str]
) -> dict[str, ProcessorPrice]:
    """Return the prices that the processor has told, by their ids there."""
    if not ids:
        return {}
    prices = select(ProcessorPrice).where(
        ProcessorPrice.partner_id == partner_id, ProcessorPrice.price_id.in_(ids)
    )
    return {price.price_id: price for price in session.scalars(prices)}


def _initial_plans(session: Session, partner_id: UUID, rows: Iterable[Pricing]) -> list[EditedPlan]:
    """Return the plans before the first version: those ``rows`` in the contract's ``pricing`` are
    visible, with their known prices."""
    entries: dict[Tier, Pricing] = {}
    for entry in rows:
        entries.setdefault(entry.tier, entry)
    ids = {entry.processor_price_id for entry in entries.values()}
    by_price_id = known_prices(session, partner_id, ids)
    return [_initial_plan(tier, entries.get(tier), by_price_id) for tier in BY_SIZE]


def _initial_plan(
    tier: Tier, entry: Pricing | None, by_price_id: Mapping[str, ProcessorPrice]
) -> EditedPlan:
    default_price = PRICES[tier]
    price = by_price_id.get(entry.processor_price_id) if entry else None
    cost, currency = (
        (price.cost, price.currency) if price else (default_price.cost, default_price.currency)
    )
    amount = int(cost.scaleb(decimals(currency)))
    return EditedPlan(
        tier,
        price.name[:60] if price else TIER_NAMES[tier],
        PlanTerms(amount, currency),
        is_visible=entry is not None,
        price_id=entry.processor_price_id if entry else "",
        product_id=entry.processor_product_id if entry else "",
    )
