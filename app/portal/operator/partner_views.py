"""Suspend and reactivate a partner, from the operator's list of partners."""

from uuid import UUID

from flask import flash, redirect, url_for
from werkzeug.wrappers import Response

from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext
from app.portal.web.blueprint import portal
from app.portal.web.confirmation import Confirmation
from app.services import partners

SUSPENDING = (
    lazy_gettext("All its users are signed out at once and can’t sign in."),
    lazy_gettext("Its access tokens, API keys and clients of the legacy API stop working at once."),
    lazy_gettext("No more calls are placed. Waiting calls are cancelled when they are due."),
    lazy_gettext("Nothing is deleted; you can reactivate the partner at any time."),
)


@portal.get("/partners/<uuid:partner_id>/suspend")
def partner_suspend_confirm(partner_id: UUID) -> str:
    with transaction(read_only=True) as session:
        name = partners.get(session, caller(), partner_id).name
    return Confirmation(
        action=url_for("portal.partner_suspend", partner_id=partner_id),
        title=gettext("Suspend %(name)s?", name=name),
        consequences=SUSPENDING,
        act=gettext("Suspend partner"),
        safe=gettext("Keep active"),
        safe_url=url_for("portal.operator_partner", partner_id=partner_id),
    ).page()


@portal.post("/partners/<uuid:partner_id>/suspend")
def partner_suspend(partner_id: UUID) -> Response:
    with transaction() as session:
        name = partners.suspend(session, caller(), partner_id).name
    flash(
        gettext(
            "%(name)s suspended. Its users are signed out and its credentials don’t work.",
            name=name,
        ),
        "success",
    )
    return redirect(url_for("portal.operator_partner", partner_id=partner_id), 303)


@portal.post("/partners/<uuid:partner_id>/resume")
def partner_resume(partner_id: UUID) -> Response:
    with transaction() as session:
        name = partners.resume(session, caller(), partner_id).name
    flash(
        gettext(
            "%(name)s reactivated. Its users can sign in and its credentials work again.",
            name=name,
        ),
        "success",
    )
    return redirect(url_for("portal.operator_partner", partner_id=partner_id), 303)
