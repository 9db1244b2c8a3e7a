"""End and start the trial of a partner, from the operator's list of partners."""

from uuid import UUID

from flask import flash, redirect, url_for
from werkzeug.wrappers import Response

from app.extensions import caller, transaction
from app.portal.web.blueprint import portal
from app.portal.web.confirmation import Confirmation
from app.services import partners

ENDING = (
    "Its organizations can call every number that their settings allow.",
    "Organizations in a trial of their own stay in it until a partner admin ends it.",
)
STARTING = (
    "Its organizations can call only numbers that they have verified.",
    "Waiting calls to other numbers end when their turn comes.",
    "You can end the trial at any time.",
)


@portal.get("/partners/<uuid:partner_id>/end-trial")
def partner_trial_end_confirm(partner_id: UUID) -> str:
    return Confirmation(
        action=url_for("portal.partner_trial_end", partner_id=partner_id),
        title=f"End the trial of {_name(partner_id)}?",
        consequences=ENDING,
        act="End trial",
        safe="Keep in trial",
        safe_url=url_for("portal.overview"),
        danger=False,
    ).page()


@portal.post("/partners/<uuid:partner_id>/end-trial")
def partner_trial_end(partner_id: UUID) -> Response:
    with transaction() as session:
        name = partners.end_trial(session, caller(), partner_id).name
    flash(f"The trial of {name} has ended.", "success")
    return redirect(url_for("portal.overview"), 303)


@portal.get("/partners/<uuid:partner_id>/start-trial")
def partner_trial_start_confirm(partner_id: UUID) -> str:
    return Confirmation(
        action=url_for("portal.partner_trial_start", partner_id=partner_id),
        title=f"Put {_name(partner_id)} into trial mode?",
        consequences=STARTING,
        act="Start trial",
        safe="Keep out of trial",
        safe_url=url_for("portal.overview"),
    ).page()


@portal.post("/partners/<uuid:partner_id>/start-trial")
def partner_trial_start(partner_id: UUID) -> Response:
    with transaction() as session:
        name = partners.start_trial(session, caller(), partner_id).name
    flash(f"{name} is in trial mode.", "success")
    return redirect(url_for("portal.overview"), 303)


def _name(partner_id: UUID) -> str:
    with transaction(read_only=True) as session:
        return partners.get(session, caller(), partner_id).name
