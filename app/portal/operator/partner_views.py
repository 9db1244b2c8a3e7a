"""The operator's actions on a partner: suspending, reactivating, its domain and its trial."""

from uuid import UUID

from flask import render_template, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext, ngettext
from app.models import Partner
from app.portal.operator import blueprint
from app.portal.operator.forms import DomainForm
from app.portal.web.blueprint import Page
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.formats import number
from app.portal.web.forms import saving_edit, stored_page
from app.portal.web.messages import redirect_saved, redirect_with
from app.services import overview, partners, users
from app.services.calls import operator_search
from app.services.calls.states import WAITING

MAX_COUNTED = 100_000
"""Maximum users and calls of a partner that are counted."""


@blueprint.get("/partners/<uuid:partner_id>/suspend")
def confirm_suspend_partner(partner_id: UUID) -> str:
    with transaction(read_only=True) as session:
        partner = partners.get(session, caller(), partner_id)
        return ConfirmationPage(
            title=gettext("Suspend %(name)s?", name=partner.name),
            consequences=_suspension_consequences(session, partner),
            action_label=gettext("Suspend partner"),
            keep_label=gettext("Keep active"),
            keep_url=url_for("portal.operator.show_partner", partner_id=partner_id),
            crumbs=crumbs_of(partner),
        ).page()


@blueprint.post("/partners/<uuid:partner_id>/suspend")
def suspend_partner(partner_id: UUID) -> Response:
    with transaction() as session:
        name = partners.suspend(session, caller(), partner_id).name
    return redirect_with(
        gettext(
            "%(name)s suspended. Its users are signed out and its credentials don’t work.",
            name=name,
        ),
        url_for("portal.operator.show_partner", partner_id=partner_id),
    )


@blueprint.post("/partners/<uuid:partner_id>/reactivate")
def reactivate_partner(partner_id: UUID) -> Response:
    with transaction() as session:
        name = partners.reactivate(session, caller(), partner_id).name
    return redirect_with(
        gettext(
            "%(name)s reactivated. Its users can sign in and its credentials work again.",
            name=name,
        ),
        url_for("portal.operator.show_partner", partner_id=partner_id),
    )


def users_label(session: Session, partner_id: UUID) -> str:
    """Return how many users a partner has: 5, or 100,000+."""
    filters = users.UserFilter(partner_id=partner_id)
    return _capped_number(users.count(session, caller(), filters, most=MAX_COUNTED))


def _capped_number(count: int) -> str:
    return number(count) if count <= MAX_COUNTED else f"{number(MAX_COUNTED)}+"


def crumbs_of(partner: Partner) -> list[tuple[str, str]]:
    """Return the breadcrumbs above a confirmation about a partner."""
    page = url_for("portal.operator.show_partner", partner_id=partner.id)
    return [(gettext("Overview"), url_for("portal.overview.show_overview")), (partner.name, page)]


def _suspension_consequences(session: Session, partner: Partner) -> list[str]:
    signed_out = users.count(
        session, caller(), users.UserFilter(partner_id=partner.id), most=MAX_COUNTED
    )
    waiting = operator_search.count(
        session,
        caller(),
        operator_search.PartnerCallFilter(partner=partner.id, states=WAITING),
        most=MAX_COUNTED,
    )
    cancelled = ngettext(
        "%(num)s waiting call is cancelled when it is due.",
        "%(num)s waiting calls are cancelled when they are due.",
        waiting,
        num=_capped_number(waiting),
    )
    organizations = overview.overview_of(session, partner).organizations
    stopped = ngettext(
        "%(num)s organization can’t place calls.",
        "%(num)s organizations can’t place calls.",
        organizations,
    )
    locked_out = ngettext(
        "%(num)s user is signed out immediately and can’t sign in.",
        "%(num)s users are signed out immediately and can’t sign in.",
        signed_out,
        num=_capped_number(signed_out),
    )
    return [
        *([stopped] if organizations else []),
        *([cancelled] if waiting else []),
        *([locked_out] if signed_out else []),
        gettext(
            "Its access tokens, API keys and clients of the legacy API stop working immediately."
        ),
        gettext("Links in invitations and password emails stop working for good."),
        gettext("Nothing is deleted; you can reactivate the partner at any time."),
    ]


@blueprint.get("/operator/partners/<uuid:partner_id>/domain")
def edit_domain(partner_id: UUID) -> str:
    return stored_page(partner_id, _page, _stored)


@blueprint.post("/operator/partners/<uuid:partner_id>/domain")
def save_domain(partner_id: UUID) -> Page:
    form = DomainForm()
    with saving_edit(form, "partner", partner_id, _page, _stored, validate=False) as session:
        previous_domain = partners.get(session, caller(), partner_id).domain
        saved = partners.change_domain(
            session, caller(), partner_id, form.domain.data, expected_version=form.version.data
        )
        changed = saved.domain != previous_domain
    message = gettext("Domain saved.")
    return redirect_saved(
        message, url_for("portal.operator.show_partner", partner_id=partner_id), changed
    )


def _stored(session: Session, partner_id: UUID) -> DomainForm:
    return DomainForm.from_object(partners.get(session, caller(), partner_id))


def _page(partner_id: UUID, form: DomainForm) -> str:
    with transaction(read_only=True) as session:
        return render_template(
            "portal/operator/partner_domain.html",
            partner=partners.get(session, caller(), partner_id),
            form=form,
        )


ENDING = (
    lazy_gettext("Its organizations can call every number that their settings allow."),
    lazy_gettext(
        "Organizations that are in trial mode themselves stay in it until a partner admin ends it."
    ),
)
STARTING = (
    lazy_gettext("Its organizations can call only numbers that they have verified."),
    lazy_gettext("Waiting calls to other numbers are cancelled when they are due."),
    lazy_gettext("You can end trial mode at any time."),
)


@blueprint.get("/partners/<uuid:partner_id>/end-trial")
def confirm_end_trial(partner_id: UUID) -> str:
    partner = _get_partner(partner_id)
    return ConfirmationPage(
        title=gettext("End trial mode of %(name)s?", name=partner.name),
        consequences=ENDING,
        action_label=gettext("End trial mode"),
        keep_label=gettext("Keep in trial mode"),
        keep_url=url_for("portal.operator.show_partner", partner_id=partner_id),
        danger=False,
        crumbs=crumbs_of(partner),
    ).page()


@blueprint.post("/partners/<uuid:partner_id>/end-trial")
def end_trial(partner_id: UUID) -> Response:
    with transaction() as session:
        name = partners.end_trial(session, caller(), partner_id).name
    message = gettext("The trial mode of %(name)s has ended.", name=name)
    return redirect_with(message, url_for("portal.operator.show_partner", partner_id=partner_id))


@blueprint.get("/partners/<uuid:partner_id>/start-trial")
def confirm_start_trial(partner_id: UUID) -> str:
    partner = _get_partner(partner_id)
    return ConfirmationPage(
        title=gettext("Return %(name)s to trial mode?", name=partner.name),
        consequences=STARTING,
        action_label=gettext("Return to trial mode"),
        keep_label=gettext("Keep out of trial mode"),
        keep_url=url_for("portal.operator.show_partner", partner_id=partner_id),
        crumbs=crumbs_of(partner),
    ).page()


@blueprint.post("/partners/<uuid:partner_id>/start-trial")
def start_trial(partner_id: UUID) -> Response:
    with transaction() as session:
        name = partners.start_trial(session, caller(), partner_id).name
    message = gettext("%(name)s is in trial mode.", name=name)
    return redirect_with(message, url_for("portal.operator.show_partner", partner_id=partner_id))


def _get_partner(partner_id: UUID) -> Partner:
    with transaction(read_only=True) as session:
        return partners.get(session, caller(), partner_id)
