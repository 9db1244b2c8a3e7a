"""Visits to the partner's payment processor: a customer subscribes to another plan there, or sees
its invoices and means of payment."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Tier
from app.errors import Conflict, NotFound
from app.gateways.job_queue import enqueue_check
from app.languages import gettext
from app.models import Checkout, Organization, Subscription, new_id, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit
from app.services.pricing import accounts, selling, subscriptions, versions
from app.services.pricing.plans import EditedPlan
from app.services.tenancy import fetch, get_organization, of_tenant


@dataclass(frozen=True, slots=True)
class CheckoutRequest:
    """The data to open a checkout, or with a ``customer`` the pages of that one."""

    partner_id: UUID
    price_id: str
    trial_days: int
    back_url: str
    customer: str


def sellable_plans(session: Session, partner_id: UUID) -> Mapping[Tier, EditedPlan]:
    """Return the plans that a connected account sells."""
    if not accounts.is_connected(session, partner_id):
        return {}
    plans = versions.live(session, partner_id)
    return {plan.tier: plan for plan in plans if selling.is_priced(plan)}


def start_checkout(session: Session, caller: Caller, tier: Tier, back_url: str) -> Checkout:
    """Start a checkout of the caller's organization; the worker opens it. ``back_url`` is the URL
    to which the customer returns.

    Raises `Forbidden`, `NotFound`, and `Conflict` (``plan_not_sold``) for a plan that the processor
    doesn't sell.
    """
    organization = _own_organization(session, caller)
    plan = sellable_plans(session, organization.partner_id).get(tier)
    if plan is None:
        message = gettext("This plan can't be bought here at the moment.")
        raise Conflict(message, "plan_not_sold")
    checkout = Checkout(tier=tier, back_url=back_url)
    return _start(session, caller, organization, checkout, "checkout.begun", plan.name)


def start_visit(session: Session, caller: Caller, back_url: str) -> Checkout:
    """Start a visit of the caller's organization to its invoices and means of payment at the
    processor; the worker opens it. ``back_url`` is the URL to which the customer returns.

    Raises `Forbidden`, `NotFound`, and `Conflict` (``no_subscription``) if the processor doesn't
    know the organization.
    """
    organization = _own_organization(session, caller)
    paid_by = visitable_subscription(session, organization)
    if paid_by is None:
        message = gettext("There are no invoices at Stripe for your organization.")
        raise Conflict(message, "no_subscription")
    checkout = Checkout(tier=paid_by.tier, customer=paid_by.customer, back_url=back_url)
    return _start(session, caller, organization, checkout, "billing.visited", "Stripe")


def visitable_subscription(session: Session, organization: Organization) -> Subscription | None:
    """Return the subscription whose customer an organization can visit; None without one, or if no
    account is connected."""
    subscription = subscriptions.unended_subscription(session, organization.id)
    if subscription is None or not subscription.customer:
        return None
    return subscription if accounts.is_connected(session, organization.partner_id) else None


def _own_organization(session: Session, caller: Caller) -> Organization:
    caller.require(Permission.USAGE_READ)
    if caller.organization_id is None:
        raise NotFound
    return get_organization(session, caller, caller.organization_id)


def _start(
    session: Session,
    caller: Caller,
    organization: Organization,
    checkout: Checkout,
    action: str,
    target: str,
) -> Checkout:
    checkout.id = new_id()
    checkout.partner_id, checkout.organization_id = organization.partner_id, organization.id
    session.add(checkout)
    session.flush()
    audit.record_change(session, caller, action, organization, target=target)
    enqueue_check(session, "open_checkout", new_id(), checkout.partner_id, str(checkout.id))
    return checkout


def get(session: Session, caller: Caller, checkout_id: UUID) -> Checkout:
    """Return a checkout of the caller's organization. Raises `NotFound`."""
    query = select(Checkout).where(Checkout.id == checkout_id)
    query = of_tenant(query, caller, Checkout.partner_id, Checkout.organization_id)
    return fetch(session, query, NotFound())


def checkout_request(session: Session, checkout_id: UUID) -> CheckoutRequest | None:
    """For the worker: return what to open; None if that is done, or the plan isn't sold now."""
    checkout = session.get(Checkout, checkout_id)
    if checkout is None or checkout.url:
        return None
    if checkout.customer:
        return CheckoutRequest(checkout.partner_id, "", 0, checkout.back_url, checkout.customer)
    plan = sellable_plans(session, checkout.partner_id).get(checkout.tier)
    if plan is None:
        return None
    days = plan.terms.trial_days
    return CheckoutRequest(checkout.partner_id, plan.price_id, days, checkout.back_url, "")


def store_checkout_page(session: Session, checkout_id: UUID, url: str, problem: str) -> None:
    """For the worker: store the page of the checkout, or why there is none."""
    checkout = session.get(Checkout, checkout_id)
    if checkout is not None:
        checkout.url, checkout.problem = url, problem


def mark_paid(session: Session, partner_id: UUID, reference: str) -> Checkout | None:
    """Return a checkout of the partner that was just reported as paid, once; None for any other."""
    try:
        checkout = session.get(Checkout, UUID(reference), with_for_update=True)
    except ValueError:
        return None
    if checkout is None or checkout.partner_id != partner_id or checkout.paid_at is not None:
        return None
    checkout.paid_at = utcnow()
    return checkout
