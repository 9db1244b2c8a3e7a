"""Subscriptions: regular payments of customers at the partner's payment processor.

The processor's reports only trigger a query; its answer counts. So reports may come twice, late or
in any order.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session, aliased

from app.database import read_once
from app.enums import SubscriptionStatus, Tier
from app.gateways.job_queue import enqueue_check
from app.gateways.processors.base import CustomerSubscription
from app.models import Checkout, Organization, PlanVersion, Subscription, new_id, utcnow
from app.policy import Permission
from app.policy.caller import Caller, system_caller
from app.services import audit
from app.services.pricing import versions
from app.services.tenancy import get_organization

ACTOR = "Stripe"
ASKED_AGAIN = timedelta(days=1)
"""Active subscriptions are queried daily, because a report can be lost."""
BATCH_SIZE = 50


@dataclass(frozen=True, slots=True)
class FollowedSubscription:
    """The data to query a subscription. ``replaced`` are those of the same customer that it
    replaces; ``seen_at`` is when the last answer was stored."""

    partner_id: UUID
    organization_id: UUID
    reference: str
    replaced: Sequence[UUID]
    seen_at: datetime


def current(session: Session, caller: Caller, organization_id: UUID) -> Subscription | None:
    """Return the subscription that pays for an organization. Raises `Forbidden`, `NotFound`."""
    caller.require(Permission.USAGE_READ)
    return unended_subscription(session, get_organization(session, caller, organization_id).id)


def unended_subscription(session: Session, organization_id: UUID) -> Subscription | None:
    """Return the newest subscription of an organization that hasn't ended. A read-only transaction
    reads it once."""
    key = (Subscription, organization_id)
    query = select(Subscription).where(is_lasting(organization_id))
    return read_once(session, key, lambda: session.scalar(query))


def is_lasting(organization_id: UUID) -> ColumnElement[bool]:
    """Return the condition of `unended_subscription`."""
    candidate = aliased(Subscription)
    active_ids = select(candidate.id).where(
        candidate.organization_id == organization_id, candidate.status != SubscriptionStatus.ENDED
    )
    return Subscription.id == active_ids.order_by(candidate.id.desc()).limit(1).scalar_subquery()


def paying(session: Session, organization_ids: Collection[UUID], at: datetime) -> set[UUID]:
    """Return those of the organizations that had a subscription at that moment."""
    query = select(Subscription.organization_id).where(
        Subscription.organization_id.in_(organization_ids),
        Subscription.created_at < at,
        or_(Subscription.status != SubscriptionStatus.ENDED, Subscription.ended_at >= at),
    )
    return set(session.scalars(query))


def ended_between(
    session: Session, organization_ids: Collection[UUID], start: datetime, end: datetime
) -> dict[UUID, Tier]:
    """Return the plan that each organization's subscription paid for until it ended in that
    period."""
    if not organization_ids:
        return {}
    query = select(Subscription.organization_id, Subscription.tier).where(
        Subscription.organization_id.in_(organization_ids), has_ended_between(start, end)
    )
    rows = session.execute(query.order_by(Subscription.id))
    return {row.organization_id: row.tier for row in rows}


def has_ended_between(start: datetime, end: datetime) -> ColumnElement[bool]:
    """Return the condition that a subscription ended in that period."""
    return and_(
        Subscription.status == SubscriptionStatus.ENDED,
        Subscription.ended_at >= start,
        Subscription.ended_at < end,
    )


def customers_of(session: Session, organization_id: UUID) -> Collection[str]:
    """Return the processor's customer ids of all subscriptions that an organization had, latest
    first."""
    query = select(Subscription.customer).where(
        Subscription.organization_id == organization_id, Subscription.customer != ""
    )
    return dict.fromkeys(session.scalars(query.order_by(Subscription.id.desc()))).keys()


def begin(session: Session, checkout: Checkout, reference: str) -> None:
    """Store the subscription of a paid checkout, and queue its query."""
    subscription = Subscription(
        id=new_id(),
        partner_id=checkout.partner_id,
        organization_id=checkout.organization_id,
        reference=reference,
        tier=checkout.tier,
        status=SubscriptionStatus.ACTIVE,
        seen_at=utcnow(),
    )
    session.add(subscription)
    session.flush()
    _enqueue_follow_up(session, subscription)


def enqueue_reported(session: Session, partner_id: UUID, reference: str) -> None:
    """Queue the query of a reported subscription of the partner; any other one is left alone."""
    query = select(Subscription).where(
        Subscription.partner_id == partner_id, Subscription.reference == reference
    )
    if (subscription := session.scalar(query)) is not None:
        _enqueue_follow_up(session, subscription)


def to_follow(session: Session, subscription_id: UUID) -> FollowedSubscription | None:
    """For the worker: return what to ask for; None if the organization was deleted."""
    subscription = session.get(Subscription, subscription_id)
    if subscription is None:
        return None
    older = select(Subscription.id).where(
        Subscription.organization_id == subscription.organization_id,
        Subscription.status != SubscriptionStatus.ENDED,
        Subscription.id < subscription.id,
    )
    is_over = subscription.status is SubscriptionStatus.ENDED
    replaced = [] if is_over else session.scalars(older).all()
    return FollowedSubscription(
        subscription.partner_id,
        subscription.organization_id,
        subscription.reference,
        replaced,
        subscription.seen_at,
    )


def lock_if_seen_again(session: Session, subscription_id: UUID, seen_at: datetime) -> bool:
    """For the worker: lock a subscription; return whether another answer was stored since then."""
    row = session.get(Subscription, subscription_id, with_for_update=True)
    return row is not None and row.seen_at != seen_at


def due(session: Session, now: datetime, after: UUID | None = None) -> Sequence[UUID]:
    """For the worker: return some of the subscriptions that weren't queried since yesterday, in
    order, after one of them."""
    query = select(Subscription.id).where(
        Subscription.seen_at < now - ASKED_AGAIN, Subscription.status != SubscriptionStatus.ENDED
    )
    if after is not None:
        query = query.where(Subscription.id > after)
    return session.scalars(query.order_by(Subscription.id).limit(BATCH_SIZE)).all()


def store_processor_answer(
    session: Session, subscription_id: UUID, answer: CustomerSubscription | None
) -> Tier | None:
    """For the worker: store the processor's answer. None, for a subscription that the account
    doesn't have, changes nothing: accounts keep ended ones, so it is another account's.

    Return the plan that the organization changes to, if any: another one that it pays for now, or
    Free at the end of what it paid for. A plan that a user chose in the meantime stays.
    """
    row = session.get(Subscription, subscription_id, with_for_update=True)
    if row is None:
        return None
    had, was_over, before = row.tier, row.status is SubscriptionStatus.ENDED, _audit_values(row)
    row.seen_at = utcnow()
    if answer is not None:
        row.status, row.customer, row.ends_at = answer.status, answer.customer, answer.ends_at
        row.tier = _tier_of_price(session, row.partner_id, answer.price_id) or row.tier
        is_over = answer.status is SubscriptionStatus.ENDED
        row.ended_at = (row.ended_at or utcnow()) if is_over else None
    session.flush()
    if (after := _audit_values(row)) == before:
        return None
    organization = session.get_one(Organization, row.organization_id)
    caller, action = system_caller(ACTOR, row.partner_id), "organization.subscription_changed"
    audit.record_change(session, caller, action, organization, before=before, after=after)
    if row.status is not SubscriptionStatus.ENDED:
        return row.tier if was_over or row.tier is not had else None
    is_paid_otherwise = unended_subscription(session, organization.id) is not None
    if was_over or is_paid_otherwise or organization.payment_tier is not had:
        return None
    return Tier.FREE


def _tier_of_price(session: Session, partner_id: UUID, price_id: str) -> Tier | None:
    """Return the plan that has or had this price; subscriptions keep replaced prices."""
    newest_first = versions.published_versions(partner_id).order_by(PlanVersion.number.desc())
    for version in session.scalars(newest_first):
        for plan in versions.plans_of(version):
            if plan.price_id == price_id:
                return plan.tier
    return None


def _audit_values(row: Subscription) -> dict[str, str | None]:
    ends_at = row.ends_at.isoformat() if row.ends_at else None
    return {"tier": row.tier.value, "subscription": row.status.value, "endsAt": ends_at}


def _enqueue_follow_up(session: Session, subscription: Subscription) -> None:
    partner_id = subscription.partner_id
    enqueue_check(session, "follow_subscription", new_id(), partner_id, str(subscription.id))
