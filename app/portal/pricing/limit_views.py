"""What the partner's plans allow their organizations: typed, shown with what it does, saved."""

from flask import flash, redirect, render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import TIER_NAMES
from app.errors import Conflict, ValidationFailed
from app.extensions import caller, settings, transaction
from app.models import Partner
from app.portal.pricing.limit_forms import LimitsForm
from app.portal.web.blueprint import portal
from app.portal.web.editing import Difference, Overtaken, edit_conflict, seen_version
from app.portal.web.formats import number
from app.services import partners
from app.services.plans import effects as plan_effects
from app.services.plans import limits

Page = str | tuple[str, int] | Response


@portal.get("/pricing/limits")
def pricing_limits() -> Page:
    with transaction(read_only=True) as session:
        allowed = limits.allowances(session, caller(), partners.own(caller()))
        return _page(session, LimitsForm.showing(allowed))


@portal.get("/pricing/limits/check")
def pricing_limits_check() -> Page:
    """What the values of the address would do. Nothing is written before the next page's form."""
    form = LimitsForm(request.args)
    with transaction(read_only=True) as session:
        if not form.validate():
            return _page(session, form), 422
        partner = _partner(session)
        effects = plan_effects.effects(session, caller(), partner.id, form.wanted())
        return render_template(
            "portal/pricing/limits_check.html",
            form=form,
            effects=effects,
            version=partner.version,
        )


@portal.post("/pricing/limits")
def pricing_limits_save() -> Page:
    form = LimitsForm(request.form)
    if not form.validate():
        with transaction(read_only=True) as session:
            return _page(session, form), 422
    try:
        with transaction() as session:
            changed = limits.set_allowances(
                session,
                caller(),
                partners.own(caller()),
                form.wanted(),
                expected_version=seen_version(),
            )
    except ValidationFailed as error:
        form.show_problems(error)
        with transaction(read_only=True) as session:
            return _page(session, form), 422
    except Conflict as error:
        with transaction(read_only=True) as session:
            return _page(session, form, found=_overtaken(session, error, form)), 409
    names = ", ".join(TIER_NAMES[tier] for tier in changed)
    flash(f"Limits saved: {names}." if changed else "Nothing was changed.", "success")
    return redirect(url_for("portal.pricing"), 303)


def _partner(session: Session) -> Partner:
    return partners.get(session, caller(), partners.own(caller()))


def _overtaken(session: Session, error: Conflict, typed: LimitsForm) -> Overtaken:
    partner_id = partners.own(caller())
    stored = LimitsForm.showing(limits.allowances(session, caller(), partner_id))
    differences = [
        Difference(
            f"{TIER_NAMES[tier]}, {mine.label.text.lower()}",
            _said(mine.data),
            _said(theirs.data),
        )
        for (tier, row), (_tier, other) in zip(typed.rows, stored.rows, strict=True)
        for mine, theirs in zip(row, other, strict=True)
        if mine.data != theirs.data
    ]
    return edit_conflict(session, error, differences, target_type="partner", target_id=partner_id)


def _said(limit: int | None) -> str:
    return "No limit" if limit is None else number(limit)


def _page(session: Session, form: LimitsForm, found: Overtaken | None = None) -> str:
    partner = _partner(session)
    return render_template(
        "portal/pricing/limits.html",
        form=form,
        counts=plan_effects.on_plans(session, caller(), partner.id),
        problems=form.problems(),
        found=found,
        most_at_once=settings().calls_per_organization,
        version=partner.version,
    )
