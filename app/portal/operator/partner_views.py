"""Suspend and reactivate a partner, from the operator's list of partners."""

from uuid import UUID

from flask import flash, redirect, url_for
from werkzeug.wrappers import Response

from app.extensions import caller, transaction
from app.portal.web.blueprint import portal
from app.portal.web.confirmation import Confirmation
from app.services import partners

SUSPENDING = (
    "All its users are signed out at once and can’t sign in.",
    "Its access tokens, API keys and clients of the legacy API stop working at once.",
    "No more calls are placed; waiting calls end when their turn comes.",
    "Nothing is deleted; you can reactivate the partner at any time.",
)


@portal.get("/partners/<uuid:partner_id>/suspend")
def partner_suspend_confirm(partner_id: UUID) -> str:
    with transaction(read_only=True) as session:
        name = partners.get(session, caller(), partner_id).name
    return Confirmation(
        action=url_for("portal.partner_suspend", partner_id=partner_id),
        title=f"Suspend {name}?",
        consequences=SUSPENDING,
        act="Suspend partner",
        safe="Keep active",
        safe_url=url_for("portal.overview"),
    ).page()


@portal.post("/partners/<uuid:partner_id>/suspend")
def partner_suspend(partner_id: UUID) -> Response:
    with transaction() as session:
        name = partners.suspend(session, caller(), partner_id).name
    flash(f"{name} suspended. Its users are signed out and its credentials don’t work.", "success")
    return redirect(url_for("portal.overview"), 303)


@portal.post("/partners/<uuid:partner_id>/resume")
def partner_resume(partner_id: UUID) -> Response:
    with transaction() as session:
        name = partners.resume(session, caller(), partner_id).name
    flash(f"{name} reactivated. Its users can sign in and its credentials work again.", "success")
    return redirect(url_for("portal.overview"), 303)
