"""The draft of the plans, reviewed and published or discarded, and the published versions."""

from flask import flash, redirect, render_template, url_for

from app.errors import CHANGED_MEANWHILE, Conflict, ValidationFailed
from app.extensions import caller, processor, transaction
from app.portal.pricing.labels import change_rows
from app.portal.pricing.views import current_plans
from app.portal.web.blueprint import Page, portal
from app.portal.web.confirmation import Confirmation
from app.portal.web.formats import plural
from app.portal.web.forms import seen_version
from app.services import partners
from app.services.plans import effects
from app.services.pricing import selling, versions

NUMBER = "<int(max=2147483647):number>"


@portal.get("/pricing/publish", endpoint="pricing_review")
def review_draft() -> str:
    """Show the changes and what customers will see."""
    return _review([])


def _review(problems: list[tuple[str, str]]) -> str:
    with transaction(read_only=True) as session:
        found = current_plans(session)
        counts = effects.on_plans(session, caller(), partners.own(caller()))
    return render_template(
        "portal/pricing/review.html",
        found=found,
        problems=problems,
        rows=change_rows(found.changes, found.published, found.plans),
        counts=counts,
        changed={change.tier for change in found.changes},
    )


@portal.post("/pricing/publish")
def pricing_publish() -> Page:
    try:
        with transaction() as session:
            version = selling.publish(
                session,
                caller(),
                partners.own(caller()),
                is_outside=processor().is_outside,
                expected_version=seen_version(),
            )
    except ValidationFailed as error:
        return _review([("", problem.message) for problem in error.problems]), 422
    except Conflict as error:
        if error.code != CHANGED_MEANWHILE:
            raise
        flash("The draft changed meanwhile. Review the changes again.", "warning")
        return redirect(url_for("portal.pricing_review"), 303)
    flash(f"Version {version.number} is published. Customers see these plans now.", "success")
    return redirect(url_for("portal.pricing"), 303)


@portal.get("/pricing/discard")
def pricing_discard_confirm() -> str:
    with transaction(read_only=True) as session:
        changes = current_plans(session).changes
    return Confirmation(
        url_for("portal.pricing_discard"),
        "Discard the draft?",
        [
            f"{plural(len(changes), 'change is', 'changes are')} lost.",
            "What your customers see does not change.",
        ],
        "Discard draft",
        "Keep draft",
        url_for("portal.pricing"),
    ).page()


@portal.post("/pricing/discard")
def pricing_discard() -> Page:
    with transaction() as session:
        versions.discard(session, caller(), partners.own(caller()))
    flash("The draft was discarded.", "success")
    return redirect(url_for("portal.pricing"), 303)


@portal.get("/pricing/history")
def pricing_history() -> str:
    with transaction(read_only=True) as session:
        found = versions.history(session, caller(), partners.own(caller()))
    return render_template("portal/pricing/history.html", versions=found)


@portal.get(f"/pricing/history/{NUMBER}")
def pricing_version(number: int) -> str:
    """Show a version, and how it differs from what customers see now."""
    with transaction(read_only=True) as session:
        version = versions.get(session, caller(), partners.own(caller()), number)
        found = current_plans(session)
    plans = versions.plans_of(version)
    changes = versions.differences(plans, found.published)
    return render_template(
        "portal/pricing/version.html",
        version=version,
        plans=plans,
        rows=change_rows(changes, plans, found.published),
        draft=found.draft,
    )


@portal.post(f"/pricing/history/{NUMBER}/restore")
def pricing_restore(number: int) -> Page:
    """Make a draft of the version; publishing it is a second step."""
    try:
        with transaction() as session:
            versions.roll_back(session, caller(), partners.own(caller()), number)
    except Conflict as error:
        flash(error.message, "warning")
        return redirect(url_for("portal.pricing"), 303)
    flash(f"The draft has the plans of version {number}. Publish it to show them.", "success")
    return redirect(url_for("portal.pricing"), 303)
