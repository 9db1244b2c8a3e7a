"""The plans as members of an organization see them: their own, its usage, and others."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from flask import redirect, render_template, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.calendar_months import next_month
from app.enums import Tier
from app.errors import Conflict
from app.extensions import caller, public_url, transaction
from app.languages.dates import format_local_date
from app.models import Checkout, Organization, utcnow
from app.policy import Permission
from app.portal.pricing import blueprint
from app.portal.pricing.labels import assistants_label, cards_message, users_label
from app.portal.pricing.views import TIER, current_plans
from app.portal.web.blueprint import Page
from app.portal.web.fragments import render_page
from app.portal.web.messages import changing
from app.portal.web.navigation import may_open
from app.portal.web.page_frame import read_frame
from app.services import organizations, pricing
from app.services.billing import included_usage
from app.services.billing.month_end import month_so_far
from app.services.billing.rating import StatementLine
from app.services.organizations.usage import OrganizationUsage
from app.services.pricing import EditedPlan, checkouts, subscriptions

GIVEN_UP_AFTER = timedelta(minutes=1)


@blueprint.get("/plan")
def show_plan() -> str:
    """Show the plans; without an organization, as a preview for the partner's staff."""
    organization_id = caller().organization_id
    return _cards_page() if organization_id is None else _own_page(organization_id)


def _own_page(organization_id: UUID) -> str:
    today = utcnow().date()
    with transaction(read_only=True) as session:
        read_frame(session)
        organization, use = organizations.get_with_usage(session, caller(), organization_id)
        so_far = month_so_far(session, caller(), organization_id, today)
        return render_template(
            "portal/pricing/member.html",
            organization=organization,
            use=use,
            assistants_label=assistants_label(use.assistants, organization.assistant_limit),
            users_label=users_label(use.users, organization.user_limit),
            manages=caller().may(Permission.USERS_WRITE),
            so_far=so_far,
            used_up=included_usage.usage_notice(so_far.bill),
            has_invoices=checkouts.visitable_subscription(session, organization) is not None,
            subscription=subscriptions.current(session, caller(), organization_id),
            today=today,
            next_month=format_local_date(next_month(so_far.bill.month), "MMMd"),
            assistants_url=_url_if_allowed("portal.assistants.list_assistants"),
            users_url=_url_if_allowed("portal.users.list_users"),
            **_plan_context(session, organization, use, so_far.bill.usage),
        )


def _plan_context(
    session: Session,
    organization: Organization,
    use: OrganizationUsage,
    usage: StatementLine | None,
) -> dict[str, Any]:
    """Return the customer's plan and the plans to change to."""
    plans = [plan.localized() for plan in pricing.published(session, organization.partner_id)]
    tier = organization.payment_tier or Tier.FREE
    current = next(plan for plan in plans if plan.tier is tier)
    visible = [plan for plan in plans if plan.is_visible or plan == current]
    larger = [plan for plan in visible if plan.terms.cost > current.terms.cost]
    return {
        "current_plan": current,
        "plans": visible,
        "larger": sorted(larger, key=lambda plan: plan.terms.cost),
        "raising": [plan for plan in larger if _includes_more(plan, organization, use, usage)],
        "sold": checkouts.sellable_plans(session, organization.partner_id),
    }


def _includes_more(
    plan: EditedPlan,
    organization: Organization,
    use: OrganizationUsage,
    usage: StatementLine | None,
) -> bool:
    """Return whether a plan includes more than the organization has, of what it has used up."""
    limit = organization.user_limit
    has_more_users = 0 < limit <= use.users and organizations.USUAL_USER_LIMITS[plan.tier] > limit
    if usage is None or not 0 < usage.included <= usage.used:
        return has_more_users
    return has_more_users or plan.terms.included > usage.included


def _cards_page() -> str:
    """Return the cards that customers see, or will see once the draft is published."""
    with transaction(read_only=True) as session:
        plan_set = current_plans(session)
    draft = plan_set.draft if plan_set.changes else None
    return render_template(
        "portal/pricing/cards.html",
        plans=[plan.localized() for plan in plan_set.plans if plan.is_visible],
        changed={change.tier for change in plan_set.changes},
        draft=draft,
        sentence=cards_message(draft),
    )


def _url_if_allowed(endpoint: str) -> str:
    return url_for(endpoint) if may_open(caller(), endpoint) else ""


@blueprint.post(f"/plan/checkout/{TIER}")
def start_checkout(tier: str) -> Page:
    return _submit(partial(checkouts.start_checkout, tier=Tier(tier)))


@blueprint.post("/plan/invoices")
def open_invoices() -> Page:
    """Open the customer's own pages at the payment processor."""
    return _submit(checkouts.start_visit)


def _submit(start: Callable[..., Checkout]) -> Response:
    """Queue opening pages of the payment processor for the worker, which lead back to the plan."""
    plan_url = url_for("portal.pricing.show_plan")
    with changing(plan_url, Conflict) as session:
        checkout_id = start(session, caller(), back_url=public_url() + plan_url).id
    return redirect(url_for("portal.pricing.show_checkout", checkout_id=checkout_id), 303)


@blueprint.get("/plan/checkout/<uuid:checkout_id>")
def show_checkout(checkout_id: UUID) -> str:
    """Redirect to the processor's page once it is open; until then, return a fragment that reloads
    itself."""
    with transaction(read_only=True) as session:
        checkout = checkouts.get(session, caller(), checkout_id)
        plans = pricing.published(session, checkout.partner_id)
    return render_page(
        "portal/pricing/checkout.html",
        "portal/pricing/_checkout.html",
        checkout=checkout,
        plan=next(plan for plan in plans if plan.tier is checkout.tier).localized(),
        is_late=not checkout.url and utcnow() - checkout.created_at > GIVEN_UP_AFTER,
    )
