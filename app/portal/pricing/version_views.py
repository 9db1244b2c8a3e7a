"""The draft of the plans, reviewed and published or discarded, and the published versions."""

from collections.abc import Sequence
from itertools import pairwise

from flask import abort, render_template, url_for

from app.errors import CHANGED_MEANWHILE, Conflict
from app.extensions import caller, processor, transaction
from app.languages import gettext
from app.portal.pricing import blueprint
from app.portal.pricing.labels import affected_label, change_rows, kept_texts, plan_changes
from app.portal.pricing.views import current_plans, discard_confirmation
from app.portal.web.blueprint import Page
from app.portal.web.forms import ActionForm, saving
from app.portal.web.messages import changing, redirect_with
from app.services import partners
from app.services.plans import effects
from app.services.plans.price_effects import price_effects
from app.services.pricing import selling, versions

NUMBER = "<int(max=2147483647):number>"


@blueprint.get("/pricing/publish")
def review_draft() -> str:
    """Show the changes and the plans as customers will see them."""
    return _review_page([])


def _review_page(problems: Sequence[tuple[str, str]]) -> str:
    with transaction(read_only=True) as session:
        plan_set, partner_id = current_plans(session), partners.own_partner_id(caller())
        changed = {change.tier for change in plan_set.changes}
        counts = effects.on_plans(session, caller(), partner_id)
        prices = price_effects(session, caller(), partner_id, plan_set.plans, changed)
    return render_template(
        "portal/pricing/review.html",
        plan_set=plan_set,
        problems=problems,
        rows=change_rows(plan_set.published, plan_set.plans),
        kept_texts=kept_texts(plan_set.published, plan_set.plans),
        changed=changed,
        affected=affected_label(plan_set.plans, changed, counts),
        prices=prices,
        visible=[plan.localized() for plan in plan_set.plans if plan.is_visible],
    )


@blueprint.post("/pricing/publish")
def publish_pricing() -> Page:
    number = _publish(ActionForm())
    message = gettext(
        "Version %(number)s is published. Customers see these plans now.", number=number
    )
    return redirect_with(message, url_for("portal.pricing.show_pricing"))


def _publish(form: ActionForm) -> int:
    """Publish the draft; return the number of the version. Changes that the user hasn't seen end
    the request."""
    partner_id, version = partners.own_partner_id(caller()), form.version.data
    try:
        with saving(form, lambda: _refused_page(form), validate=False) as session:
            return selling.publish(
                session,
                caller(),
                partner_id,
                is_outside=processor().is_outside,
                expected_version=version,
            ).number
    except Conflict as error:
        if error.code != CHANGED_MEANWHILE:
            raise
        message = gettext("The draft changed meanwhile. Review the changes again.")
        abort(redirect_with(message, url_for("portal.pricing.review_draft"), "warning"))


def _refused_page(form: ActionForm) -> str:
    """Have the prices queried again: the user may correct them at the payment processor, and
    publish again."""
    with transaction() as session:
        selling.enqueue_price_check(session, partners.own_partner_id(caller()))
    return _review_page(form.problems)


@blueprint.get("/pricing/discard")
def confirm_discard_draft() -> str:
    with transaction(read_only=True) as session:
        return discard_confirmation(current_plans(session)).page()


@blueprint.post("/pricing/discard")
def discard_draft() -> Page:
    with transaction() as session:
        versions.discard(session, caller(), partners.own_partner_id(caller()))
    return redirect_with(
        gettext("The draft was discarded."), url_for("portal.pricing.show_pricing")
    )


@blueprint.get("/pricing/history")
def list_versions() -> str:
    with transaction(read_only=True) as session:
        published = versions.history(session, caller(), partners.own_partner_id(caller()))
        plans = [versions.plans_of(version) for version in published]
    changed = [plan_changes(old, new) for new, old in pairwise(plans)]
    return render_template(
        "portal/pricing/history.html",
        rows=zip(published, [*changed, []], [each != plans[0] for each in plans], strict=True),
        has_versions=bool(published),
    )


@blueprint.get(f"/pricing/history/{NUMBER}")
def show_version(number: int) -> str:
    """Show a version, and how it differs from the current plans."""
    with transaction(read_only=True) as session:
        version = versions.get(session, caller(), partners.own_partner_id(caller()), number)
        plan_set = current_plans(session)
    plans, published = versions.plans_of(version), plan_set.published
    rows = change_rows(plans, published)
    return render_template(
        "portal/pricing/version.html",
        version=version,
        plans=[plan.localized() for plan in plans],
        rows=rows,
        draft=plan_set.draft,
    )


@blueprint.post(f"/pricing/history/{NUMBER}/restore")
def restore_version(number: int) -> Page:
    """Make a draft of the version, and show what publishing it would change."""
    with changing(url_for("portal.pricing.show_pricing"), Conflict) as session:
        versions.roll_back(session, caller(), partners.own_partner_id(caller()), number)
    message = gettext("The draft has the plans of version %(number)s.", number=number)
    return redirect_with(message, url_for("portal.pricing.review_draft"))
