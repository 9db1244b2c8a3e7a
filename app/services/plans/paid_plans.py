"""Payments at the payment processor change the plans of organizations."""

from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import Tier
from app.gateways.processors.base import CustomerSubscription
from app.policy.caller import system_caller
from app.schemas.organizations import UpdateOrganizationInput
from app.schemas.parsing import read
from app.services import organizations
from app.services.pricing import checkouts, subscriptions
from app.services.pricing.subscriptions import FollowedSubscription


def record_paid(session: Session, partner_id: UUID, checkout: str, subscription: str) -> None:
    """Change the organization to the plan of a checkout that was reported as paid, once, and store
    the ``subscription``, unless it is blank. Any other checkout is left alone."""
    paid = checkouts.mark_paid(session, partner_id, checkout)
    if paid is None:
        return
    if subscription:
        subscriptions.begin(session, paid, subscription)
    _change_plan(session, partner_id, paid.organization_id, paid.tier)


def record_subscription(
    session: Session,
    subscription_id: UUID,
    followed: FollowedSubscription,
    answer: CustomerSubscription | None,
) -> bool:
    """For the worker: store the processor's answer about a subscription, and change the
    organization's plan accordingly. Return False, with nothing stored, if another answer was stored
    meanwhile, which may be newer."""
    if subscriptions.lock_if_seen_again(session, subscription_id, followed.seen_at):
        return False
    tier = subscriptions.store_processor_answer(session, subscription_id, answer)
    if tier is not None:
        _change_plan(session, followed.partner_id, followed.organization_id, tier)
    return True


def _change_plan(session: Session, partner_id: UUID, organization_id: UUID, tier: Tier) -> None:
    caller = system_caller(subscriptions.ACTOR, partner_id)
    changes = read(UpdateOrganizationInput, {"paymentTier": tier.value})
    organizations.update(session, caller, organization_id, changes)
