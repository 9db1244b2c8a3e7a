"""Pricing: the prices of a partner's plans, and the processor's ids behind them."""

from collections import Counter
from datetime import timedelta
from decimal import Decimal
from typing import Any

from flask import redirect, render_template, url_for
from sqlalchemy.orm import Session

from app.enums import TIER_NAMES
from app.errors import Conflict, ValidationFailed
from app.extensions import caller, processor, settings, transaction
from app.gateways.processors.currencies import decimals
from app.models import Partner, utcnow
from app.portal.pricing.forms import OFFERED, PricingForm
from app.portal.pricing.limit_forms import BY_SIZE
from app.portal.web.blueprint import Page, portal
from app.portal.web.forms import refused
from app.portal.web.number_format import NO_BREAK, written
from app.schemas.parsing import read
from app.schemas.partners import UpdatePartnerInput
from app.services import partners
from app.services import pricing as prices
from app.services.plans import effects, limits
from app.services.pricing import PriceStatus

SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}
STALE_AFTER = timedelta(minutes=30)
"""Three runs of the worker without an answer."""


@portal.app_template_filter("money")
def money(cost: Decimal | float, currency: str) -> str:
    """$29.00, €948.50, ¥3,000; 29.00 CHF for currencies without a common sign."""
    amount = written(cost, decimals(currency))
    symbol = SYMBOLS.get(currency.upper())
    return f"{symbol}{amount}" if symbol else f"{amount}{NO_BREAK}{currency.upper()}"


@portal.get("/pricing", endpoint="pricing")
def show_pricing() -> str:
    with transaction(read_only=True) as session:
        partner = _partner(session)
        plans = prices.plans(session, caller(), partner.id, processor())
        options = prices.options(session, caller(), partner.id, processor())
        counted = Counter(plan.tier for plan in plans)
        known = [plan.known_since for plan in plans if plan.known_since]
        oldest = min(known, default=None)
        allowed = limits.allowances(session, caller(), partner.id)
        return render_template(
            "portal/pricing/page.html",
            plans=plans,
            options=options,
            status=PriceStatus,
            source=processor(),
            oldest=oldest,
            stale=oldest is not None and oldest < utcnow() - STALE_AFTER,
            missing=[TIER_NAMES[tier] for tier in OFFERED if tier not in counted],
            twice=[TIER_NAMES[tier] for tier, count in counted.items() if count > 1],
            names=TIER_NAMES,
            partner=partner,
            allowed=[(tier, allowed[tier]) for tier in BY_SIZE],
            counts=effects.on_plans(session, caller(), partner.id),
            most_at_once=settings().calls_per_organization,
        )


@portal.get("/pricing/edit")
def pricing_edit() -> Page:
    with transaction(read_only=True) as session:
        form = _saved(session)
    return _page(form)


@portal.post("/pricing/edit")
def pricing_save() -> Page:
    form = PricingForm()
    try:
        with transaction() as session:
            partner = _partner(session)
            changes = {"pricing": form.to_pricing(_stored(partner))}
            partners.update(
                session,
                caller(),
                partner.id,
                read(UpdatePartnerInput, changes),
                expected_version=form.version.data,
            )
    except ValidationFailed as error:
        with transaction(read_only=True) as session:
            form.problems = form.show_problems(error.problems, _stored(_partner(session)))
        return _page(form), 422
    except Conflict as error:
        target = ("partner", partners.own(caller()))
        return refused(error, form, lambda: _page(form), stored=_saved, target=target)
    return redirect(url_for("portal.pricing", saved=1), 303)


def _partner(session: Session) -> Partner:
    return partners.get(session, caller(), partners.own(caller()))


def _stored(partner: Partner) -> list[dict[str, Any]] | None:
    resource = partners.to_resource(partner, caller()).model_dump(mode="json", by_alias=True)
    stored: list[dict[str, Any]] | None = resource["pricing"]
    return stored


def _saved(session: Session) -> PricingForm:
    partner = _partner(session)
    return PricingForm.showing(_stored(partner), partner.version)


def _page(form: PricingForm) -> str:
    return render_template("portal/pricing/edit.html", form=form, source=processor())
