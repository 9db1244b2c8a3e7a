"""The limits of the partner's plans: edit, preview the effects, save."""

from flask import render_template, url_for
from sqlalchemy.orm import Session

from app.extensions import caller, settings, transaction
from app.languages import gettext
from app.portal.pricing import blueprint
from app.portal.pricing.limit_forms import LimitsForm
from app.portal.web.blueprint import Page
from app.portal.web.forms import saving
from app.portal.web.messages import redirect_saved
from app.portal.web.page_frame import read_frame
from app.portal.web.plan_names import plan_names
from app.services import partners
from app.services.plans import effects as plan_effects
from app.services.plans import limits


@blueprint.get("/pricing/limits")
def edit_limits() -> Page:
    with transaction(read_only=True) as session:
        read_frame(session)
        return _page(_stored(session))


@blueprint.get("/pricing/limits/check")
def check_limits() -> Page:
    """Show the effects of the URL's values. Nothing is written before the next page's form."""
    with transaction(read_only=True) as session:
        partner = partners.get_own(session, caller())
        form = LimitsForm.from_address(partner.version)
        if not form.validate():
            return _page(form), 422
        effects = plan_effects.effects(session, caller(), partner.id, form.to_allowances())
        return render_template("portal/pricing/limits_check.html", form=form, effects=effects)


@blueprint.post("/pricing/limits")
def save_limits() -> Page:
    form = LimitsForm()
    partner_id, version = partners.own_partner_id(caller()), form.version.data
    with saving(
        form, lambda: _page(form), stored=_stored, target=("partner", partner_id)
    ) as session:
        changed = limits.set_allowances(
            session, caller(), partner_id, form.to_allowances(), expected_version=version
        )
    names = ", ".join(plan_names()[tier] for tier in changed)
    message = gettext("Limits saved: %(plans)s.", plans=names)
    return redirect_saved(message, url_for("portal.pricing.show_pricing"), changed)


def _stored(session: Session) -> LimitsForm:
    partner = partners.get_own(session, caller())
    return LimitsForm.showing(limits.allowances(session, caller(), partner.id), partner.version)


def _page(form: LimitsForm) -> str:
    with transaction(read_only=True) as session:
        return render_template(
            "portal/pricing/limits.html",
            form=form,
            counts=plan_effects.on_plans(session, caller(), partners.own_partner_id(caller())),
            usual_at_once=settings().calls_per_organization,
            problems=form.row_problems(),
        )
