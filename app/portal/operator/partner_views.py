"""Suspend and reactivate a partner, from the operator's list of partners."""

from uuid import UUID

from flask import url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.extensions import caller, transaction
from app.languages import gettext, ngettext
from app.models import Partner
from app.portal.web.blueprint import portal
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.formats import number
from app.portal.web.messages import redirect_with
from app.services import overview, partners, users
from app.services.calls import of_partners
from app.services.calls.states import WAITING

MOST_COUNTED = 100_000
"""Users and calls of a partner that are counted."""


@portal.get("/partners/<uuid:partner_id>/suspend")
def partner_suspend_confirm(partner_id: UUID) -> str:
    with transaction(read_only=True) as session:
        found = partners.get(session, caller(), partner_id)
        return ConfirmationPage(
            title=gettext("Suspend %(name)s?", name=found.name),
            consequences=_of_suspending(session, found),
            act=gettext("Suspend partner"),
            safe=gettext("Keep active"),
            safe_url=url_for("portal.operator_partner", partner_id=partner_id),
            crumbs=crumbs_of(found),
        ).page()


@portal.post("/partners/<uuid:partner_id>/suspend")
def partner_suspend(partner_id: UUID) -> Response:
    with transaction() as session:
        name = partners.suspend(session, caller(), partner_id).name
    return redirect_with(
        gettext(
            "%(name)s suspended. Its users are signed out and its credentials don’t work.",
            name=name,
        ),
        url_for("portal.operator_partner", partner_id=partner_id),
    )


@portal.post("/partners/<uuid:partner_id>/resume")
def partner_resume(partner_id: UUID) -> Response:
    with transaction() as session:
        name = partners.resume(session, caller(), partner_id).name
    return redirect_with(
        gettext(
            "%(name)s reactivated. Its users can sign in and its credentials work again.",
            name=name,
        ),
        url_for("portal.operator_partner", partner_id=partner_id),
    )


def users_in_words(session: Session, partner_id: UUID) -> str:
    """Return how many users a partner has: 5, or 100,000+."""
    chosen = users.UserFilter(partner_id=partner_id)
    return _at_most(users.count(session, caller(), chosen, most=MOST_COUNTED))


def _at_most(count: int) -> str:
    return number(count) if count <= MOST_COUNTED else f"{number(MOST_COUNTED)}+"


def crumbs_of(partner: Partner) -> list[tuple[str, str]]:
    """Return the way to a question about a partner."""
    page = url_for("portal.operator_partner", partner_id=partner.id)
    return [(gettext("Overview"), url_for("portal.overview")), (partner.name, page)]


def _of_suspending(session: Session, partner: Partner) -> list[str]:
    signed_out = users.count(
        session, caller(), users.UserFilter(partner_id=partner.id), most=MOST_COUNTED
    )
    waiting = of_partners.count(
        session,
        caller(),
        of_partners.PartnerCallFilter(partner=partner.id, states=WAITING),
        most=MOST_COUNTED,
    )
    cancelled = ngettext(
        "%(num)s waiting call is cancelled when it is due.",
        "%(num)s waiting calls are cancelled when they are due.",
        waiting,
        num=_at_most(waiting),
    )
    organizations = overview.portal_of(session, partner).organizations
    stopped = ngettext(
        "%(num)s organization can’t place calls.",
        "%(num)s organizations can’t place calls.",
        organizations,
    )
    locked_out = ngettext(
        "%(num)s user is signed out at once and can’t sign in.",
        "%(num)s users are signed out at once and can’t sign in.",
        signed_out,
        num=_at_most(signed_out),
    )
    return [
        *([stopped] if organizations else []),
        *([cancelled] if waiting else []),
        *([locked_out] if signed_out else []),
        gettext("Its access tokens, API keys and clients of the legacy API stop working at once."),
        gettext("Nothing is deleted; you can reactivate the partner at any time."),
    ]
