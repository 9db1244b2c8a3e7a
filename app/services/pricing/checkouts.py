"""Checkouts: a customer subscribes to another plan at the partner's payment processor."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Tier
from app.errors import Conflict, NotFound
from app.gateways.job_queue import enqueue_check
from app.languages import gettext
from app.models import Checkout, new_id, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit
from app.services.pricing import accounts, selling, versions
from app.services.pricing.plans import Plan
from app.services.tenancy import fetch, get_organization, of_tenant


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the worker needs to open a checkout."""

    partner_id: UUID
    price_id: str
    trial_days: int
    back_url: str


def sellable(session: Session, partner_id: UUID) -> Mapping[Tier, Plan]:
    """Return the plans that a connected account sells."""
    if not accounts.is_connected(session, partner_id):
        return {}
    plans = versions.live(session, partner_id)
    return {plan.tier: plan for plan in plans if selling.is_priced(plan)}


def begin(session: Session, caller: Caller, tier: Tier, back_url: str) -> Checkout:
    """Begin a checkout of the caller's organization; the worker opens it. ``back_url`` is where the
    customer comes back to.

    Raises `Forbidden`, `NotFound`, and `Conflict` (``plan_not_sold``) for a plan that the
    processor doesn't sell.
    """
    caller.require(Permission.USAGE_READ)
    if caller.organization_id is None:
        raise NotFound
    organization = get_organization(session, caller, caller.organization_id)
    plan = sellable(session, organization.partner_id).get(tier)
    if plan is None:
        message = gettext("This plan can't be bought here at the moment.")
        raise Conflict(message, "plan_not_sold")
    checkout = Checkout(
        id=new_id(),
        partner_id=organization.partner_id,
        organization_id=organization.id,
        tier=tier,
        back_url=back_url,
    )
    session.add(checkout)
    session.flush()
    audit.record(
        session,
        caller,
        action="checkout.begun",
        target_type="organization",
        target_id=organization.id,
        partner_id=organization.partner_id,
        organization_id=organization.id,
        target=plan.name,
    )
    enqueue_check(session, "open_checkout", new_id(), checkout.partner_id, str(checkout.id))
    return checkout


def get(session: Session, caller: Caller, checkout_id: UUID) -> Checkout:
    """Return a checkout of the caller's organization. Raises `NotFound`."""
    query = select(Checkout).where(Checkout.id == checkout_id)
    query = of_tenant(query, caller, Checkout.partner_id, Checkout.organization_id)
    return fetch(session, query, NotFound())


def wanted(session: Session, checkout_id: UUID) -> Wanted | None:
    """For the worker: return what to open; None if that is done, or the plan isn't sold now."""
    checkout = session.get(Checkout, checkout_id)
    if checkout is None or checkout.url:
        return None
    plan = sellable(session, checkout.partner_id).get(checkout.tier)
    if plan is None:
        return None
    terms = plan.terms
    return Wanted(checkout.partner_id, plan.price_id, terms.trial_days, checkout.back_url)


def opened(session: Session, checkout_id: UUID, url: str, problem: str) -> None:
    """For the worker: store the page of the checkout, or why there is none."""
    checkout = session.get(Checkout, checkout_id)
    if checkout is not None:
        checkout.url, checkout.problem = url, problem


def paid(session: Session, partner_id: UUID, reference: str) -> Checkout | None:
    """Return a checkout of the partner that was just reported as paid, once; None for any other."""
    try:
        checkout = session.get(Checkout, UUID(reference), with_for_update=True)
    except ValueError:
        return None
    if checkout is None or checkout.partner_id != partner_id or checkout.paid_at is not None:
        return None
    checkout.paid_at = utcnow()
    return checkout
