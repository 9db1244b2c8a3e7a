"""The plans as members of an organization see them: their own, what they used of it, and others."""

from flask import render_template

from app.enums import Tier
from app.extensions import caller, transaction
from app.models import utcnow
from app.portal.web.blueprint import portal
from app.services import organizations, partners, pricing, reporting


@portal.get("/plan", endpoint="plan")
def show_plan() -> str:
    """Show the plans; without an organization, as a preview for the partner's staff."""
    today = utcnow().date()
    own, used = None, None
    with transaction(read_only=True) as session:
        partner_id = partners.own(caller())
        plans = pricing.published(session, partner_id)
        if (organization_id := caller().organization_id) is not None:
            organization = organizations.get(session, caller(), organization_id)
            tier = organization.payment_tier or Tier.FREE
            own = next(plan for plan in plans if plan.tier is tier)
            days = reporting.daily(session, caller(), today.replace(day=1), today)
            used = reporting.total(days)
    return render_template(
        "portal/pricing/member.html",
        own=own,
        used=used,
        minutes=-(-used.seconds // 60) if used else 0,
        plans=[plan for plan in plans if plan.is_visible or plan == own],
        today=today,
    )
