"""End and start the trial of a partner, from the operator's list of partners."""

from uuid import UUID

from flask import url_for
from werkzeug.wrappers import Response

from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext
from app.models import Partner
from app.portal.operator.partner_views import crumbs_of
from app.portal.web.blueprint import portal
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.messages import redirect_with
from app.services import partners

ENDING = (
    lazy_gettext("Its organizations can call every number that their settings allow."),
    lazy_gettext("Organizations in a trial of their own stay in it until a partner admin ends it."),
)
STARTING = (
    lazy_gettext("Its organizations can call only numbers that they have verified."),
    lazy_gettext("Waiting calls to other numbers are cancelled when they are due."),
    lazy_gettext("You can end the trial at any time."),
)


@portal.get("/partners/<uuid:partner_id>/end-trial")
def partner_trial_end_confirm(partner_id: UUID) -> str:
    found = _get(partner_id)
    return ConfirmationPage(
        title=gettext("End the trial of %(name)s?", name=found.name),
        consequences=ENDING,
        act=gettext("End trial"),
        safe=gettext("Keep in trial"),
        safe_url=url_for("portal.operator_partner", partner_id=partner_id),
        danger=False,
        crumbs=crumbs_of(found),
    ).page()


@portal.post("/partners/<uuid:partner_id>/end-trial")
def partner_trial_end(partner_id: UUID) -> Response:
    with transaction() as session:
        name = partners.end_trial(session, caller(), partner_id).name
    words = gettext("The trial of %(name)s has ended.", name=name)
    return redirect_with(words, url_for("portal.operator_partner", partner_id=partner_id))


@portal.get("/partners/<uuid:partner_id>/start-trial")
def partner_trial_start_confirm(partner_id: UUID) -> str:
    found = _get(partner_id)
    return ConfirmationPage(
        title=gettext("Return %(name)s to trial mode?", name=found.name),
        consequences=STARTING,
        act=gettext("Return to trial mode"),
        safe=gettext("Keep out of trial"),
        safe_url=url_for("portal.operator_partner", partner_id=partner_id),
        crumbs=crumbs_of(found),
    ).page()


@portal.post("/partners/<uuid:partner_id>/start-trial")
def partner_trial_start(partner_id: UUID) -> Response:
    with transaction() as session:
        name = partners.start_trial(session, caller(), partner_id).name
    words = gettext("%(name)s is in trial mode.", name=name)
    return redirect_with(words, url_for("portal.operator_partner", partner_id=partner_id))


def _get(partner_id: UUID) -> Partner:
    with transaction(read_only=True) as session:
        return partners.get(session, caller(), partner_id)
