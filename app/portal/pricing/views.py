"""Pricing: the plans that customers choose from, edited in a draft."""

from contextlib import nullcontext
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from flask import Response, redirect, render_template, request, url_for
from markupsafe import Markup
from sqlalchemy.orm import Session

from app.enums import Tier
from app.extensions import caller, processor, settings, transaction
from app.languages import LANGUAGES, language, using_language
from app.models import utcnow
from app.portal.pricing import blueprint
from app.portal.pricing.forms import PricingPlanForm
from app.portal.pricing.labels import draft_message, published_message
from app.portal.web.blueprint import Page
from app.portal.web.confirmation import ConfirmationPage, discard_draft_confirmation
from app.portal.web.forms import saving
from app.portal.web.fragments import htmx_command, wants_fragment
from app.portal.web.navigation import may_open
from app.portal.web.page_frame import read_frame
from app.portal.web.user_timezone import zone
from app.services import partners, reporting
from app.services.billing.by_plan import latest_closed, paid_by_plan
from app.services.plans import effects, limits
from app.services.pricing import EditedPlan, PlanSet, accounts, selling, versions

STALE_AFTER = timedelta(minutes=30)
"""Time without an answer, three runs of the worker, after which states are outdated."""
TIER = f"<any({', '.join(Tier)}):tier>"


@blueprint.get("/pricing")
def show_pricing() -> str:
    with transaction(read_only=True) as session:
        read_frame(session)
        plan_set = current_plans(session)
        return render_template(
            "portal/pricing/page.html",
            plan_set=plan_set,
            changed={change.tier for change in plan_set.changes},
            discarding=discard_confirmation(plan_set),
            sentence=published_message(plan_set.last, zone()),
            portal_limit=settings().calls_per_organization,
            **_price_states(session, plan_set),
            **_customer_context(session),
            **_paid_context(session),
        )


def discard_confirmation(plan_set: PlanSet) -> ConfirmationPage:
    return discard_draft_confirmation(
        url_for("portal.pricing.discard_draft"),
        len(plan_set.changes),
        url_for("portal.pricing.show_pricing"),
    )


def _customer_context(session: Session) -> dict[str, Any]:
    """Return how many organizations are on each plan, and its limits for them."""
    partner_id = partners.own_partner_id(caller())
    return {
        "allowed": limits.allowances(session, caller(), partner_id),
        "counts": effects.on_plans(session, caller(), partner_id),
    }


def _price_states(session: Session, plan_set: PlanSet) -> dict[str, Any]:
    """Return whether the partner's processor is connected, the states of the prices there, and when
    its oldest answer came, if that is too long ago."""
    partner_id = partners.own_partner_id(caller())
    has_prices = _has_processor(session)
    states = selling.states(session, partner_id, plan_set.published) if has_prices else {}
    oldest = min((state.seen_at for state in states.values() if state.seen_at), default=None)
    is_stale = oldest is not None and oldest < utcnow() - STALE_AFTER
    return {
        "is_connected": accounts.is_connected(session, partner_id),
        "states": states,
        "stale_since": oldest if is_stale else None,
    }


def _paid_context(session: Session) -> dict[str, Any]:
    """Return the latest closed month and what each plan's customers paid in it, for users who may
    see costs."""
    month, paid, partner_id = None, None, partners.own_partner_id(caller())
    if may_open(caller(), "portal.billing.show_costs") and reporting.can_rank(session, caller()):
        month = latest_closed(session, caller(), partner_id)
    if month is not None:
        paid = paid_by_plan(session, caller(), partner_id, month)
    return {"paid": paid, "paid_month": month}


@blueprint.get(f"/pricing/plans/{TIER}")
def edit_plan(tier: str) -> Page:
    with transaction(read_only=True) as session:
        read_frame(session)
        plan_set = current_plans(session)
        plan = _find_plan(plan_set, tier)
        return _page(PricingPlanForm.showing(plan, plan_set.fingerprint), plan)


@blueprint.post(f"/pricing/plans/{TIER}")
def save_plan(tier: str) -> Page:
    form = PricingPlanForm()
    with transaction(read_only=True) as session:
        plan_set, has_ids = current_plans(session), _has_processor(session)
    plan = _find_plan(plan_set, tier)
    edited, is_saved = _save(form, plan_set, plan, has_ids=has_ids)
    return _to_saved() if is_saved else _checking_page(form, plan, edited)


def _to_saved() -> Page:
    url = url_for("portal.pricing.show_pricing", saved=1)
    return htmx_command("HX-Redirect", url) if wants_fragment() else redirect(url, 303)


def _checking_page(form: PricingPlanForm, plan: EditedPlan, edited: EditedPlan) -> Page:
    """Return the form, which saves again automatically while its price id is checked; 204 if it
    has just done so."""
    if wants_fragment() and form.asked_at:
        return Response(status=204)
    return _page(form, plan, edited, form.asked_at or utcnow())


def _save(
    form: PricingPlanForm, plan_set: PlanSet, plan: EditedPlan, *, has_ids: bool
) -> tuple[EditedPlan, bool]:
    """Return the plan from the input, and whether it was saved: not while its price id is
    checked."""
    partner_id, version = partners.own_partner_id(caller()), plan_set.draft or plan_set.last
    target = ("plan_version", version.id) if version else ("partner", partner_id)
    page, stored = partial(_page, form, plan), partial(_stored, tier=plan.tier)
    check = partial(form.check_readable, plan, has_ids=has_ids)
    with saving(form, page, stored=stored, target=target, check=check) as session:
        edited = form.to_plan(plan, has_ids=has_ids)
        is_saved = selling.save(
            session,
            caller(),
            partner_id,
            edited,
            is_outside=processor().is_outside,
            expected_version=form.version.data,
            asked_at=form.asked_at,
        )
    return edited, is_saved


@blueprint.post(f"/pricing/plans/{TIER}/preview")
def preview_plan(tier: str) -> Page:
    """Show the card of the input, with script next to the form; nothing is written."""
    form = PricingPlanForm()
    with transaction(read_only=True) as session:
        plan = _find_plan(current_plans(session), tier)
    edited = form.to_plan(plan, has_ids=False) if form.validate() else None
    if wants_fragment():
        card = _card_context(plan, edited, form.selected_currency())
        return render_template("portal/pricing/_preview.html", **card, is_fragment=True)
    return _page(form, plan, edited), 200 if edited else 422


@blueprint.post(f"/pricing/plans/{TIER}/show")
def show_hidden_plan(tier: str) -> Page:
    """Let customers choose a hidden plan, once the draft is published."""
    with transaction() as session:
        selling.show(session, caller(), partners.own_partner_id(caller()), Tier(tier))
    return redirect(url_for("portal.pricing.show_pricing", saved=1), 303)


@blueprint.post(f"/pricing/plans/{TIER}/move/<any(earlier, later):to>")
def move_plan(tier: str, to: str) -> Page:
    with transaction() as session:
        steps = -1 if to == "earlier" else 1
        versions.move(session, caller(), partners.own_partner_id(caller()), Tier(tier), steps)
    return redirect(url_for("portal.pricing.show_pricing"), 303)


def current_plans(session: Session) -> PlanSet:
    return versions.current(session, caller(), partners.own_partner_id(caller()))


def _has_processor(session: Session) -> bool:
    """Return whether prices have ids at a payment processor."""
    return processor().is_outside or accounts.is_connected(
        session, partners.own_partner_id(caller())
    )


def _stored(session: Session, tier: str) -> PricingPlanForm:
    plan_set = current_plans(session)
    return PricingPlanForm.showing(_find_plan(plan_set, tier), plan_set.fingerprint)


def _find_plan(plan_set: PlanSet, tier: str) -> EditedPlan:
    return next(plan for plan in plan_set.plans if plan.tier == tier)


def _card_context(
    plan: EditedPlan, edited: EditedPlan | None, currency: str | None
) -> dict[str, Any]:
    """Return the card of the input, None if that is unreadable, in the language that the user chose
    for it, and the chosen ``currency``, which stands beside the amounts."""
    requested, card = request.form.get("card", ""), None
    card_language = requested if requested in LANGUAGES else language()
    if edited is not None:
        with using_language(card_language) if card_language != language() else nullcontext():
            card = Markup(render_template("portal/pricing/_card.html", plan=edited.localized()))  # noqa: S704 - a template escapes
    return {
        "card": card,
        "card_language": card_language,
        "currency_code": currency or plan.terms.currency,
        "preview": url_for("portal.pricing.preview_plan", tier=plan.tier.value),
    }


def _page(
    form: PricingPlanForm,
    plan: EditedPlan,
    edited: EditedPlan | None = None,
    asked_at: datetime | None = None,
) -> str:
    """Return the form. ``asked_at``: since when the processor is queried for the price id; the page
    then saves again automatically."""
    if form.conflict is not None:
        edited = form.to_plan(plan, has_ids=False)
    with transaction(read_only=True) as session:
        partner_id = partners.own_partner_id(caller())
        return render_template(
            "portal/pricing/plan.html",
            form=form,
            plan=plan.localized(),
            submitted=edited or plan,
            **_card_context(
                plan, None if form.errors else edited or plan, form.selected_currency()
            ),
            asked_at=asked_at,
            sentence=draft_message(effects.on_plans(session, caller(), partner_id)[plan.tier]),
            languages=LANGUAGES,
            translated=sum(bool(row.name.data or row.features.data) for _, row in form.text_rows),
            texts_refused=any(row.errors for _, row in form.text_rows),
            has_ids=_has_processor(session),
            is_connected=accounts.is_connected(session, partner_id),
        )
