"""Pricing: what a partner's plans cost."""

from flask import g, render_template

from app.extensions import caller, transaction
from app.portal.blueprint import portal
from app.services import partners, pricing


@portal.get("/pricing", endpoint="pricing")
def show_pricing() -> str:
    with transaction(read_only=True) as session:
        plans = pricing.plans(session, caller(), partners.own(caller()))
    return render_template("portal/pricing/page.html", plans=plans, partner=g.partner)
