"""Confirming or rejecting a new email address, by the link in the mail to either address."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from flask import abort, g, make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from app.errors import NotFound, ValidationFailed
from app.extensions import transaction
from app.http.request_id import request_id
from app.languages import lazy_gettext
from app.portal.auth import blueprint
from app.portal.auth.password_views import without_referrer
from app.portal.auth.views import partner_of_page
from app.portal.web.current_user import sign_in_url
from app.services.auth.email_changes import AddressSide, confirmed_at
from app.services.branding.brand import of_partner
from app.services.users import email_changes
from app.services.users.email_changes import EmailChangeView

OUTCOMES = {
    "changed": (
        lazy_gettext("Email changed"),
        lazy_gettext(
            "Both addresses confirmed the change. All browsers were signed out; sign in with the "
            "new address."
        ),
    ),
    "rejected": (
        lazy_gettext("Change rejected"),
        lazy_gettext("The email address stays as it is. Neither link works any more."),
    ),
    "taken": (
        lazy_gettext("Email not changed"),
        lazy_gettext("Ask your administrator for another address."),
    ),
    "ended": (
        lazy_gettext("This link has expired"),
        lazy_gettext(
            "The change was made, rejected or cancelled, or it is too old. Nothing was changed now."
        ),
    ),
}
"""The title and the text of the page about each outcome."""


@blueprint.get("/p/<slug>/email/<token>")
def show_email_change(slug: str, token: str) -> Response:
    return _page(slug, token)


@blueprint.post("/p/<slug>/email/<token>")
def accept_email_change(slug: str, token: str) -> Response:
    try:
        with _handling_ended_link(slug), transaction() as session:
            is_changed = email_changes.confirm(session, token, _partner_id(), **_request_metadata())
    except ValidationFailed as error:
        return _render_outcome(slug, "taken", 409, error.message)
    if is_changed:
        return _render_outcome(slug, "changed", 200)
    page_url = url_for("portal.auth.show_email_change", slug=slug, token=token)
    return without_referrer(redirect(page_url, 303))


@blueprint.post("/p/<slug>/email/<token>/reject")
def reject_email_change(slug: str, token: str) -> Response:
    with _handling_ended_link(slug), transaction() as session:
        email_changes.reject(session, token, _partner_id(), **_request_metadata())
    return _render_outcome(slug, "rejected", 200)


@contextmanager
def _handling_ended_link(slug: str) -> Iterator[None]:
    """End the request with an error page if the link does not work."""
    try:
        yield
    except NotFound:
        abort(_render_outcome(slug, "ended", 410))


def _request_metadata() -> dict[str, Any]:
    return {"ip": request.remote_addr, "request_id": request_id()}


def _partner_id() -> UUID:
    """Return the partner of the URL, whose brand the page shows. Raises `NotFound`."""
    with transaction(read_only=True) as session:
        partner = partner_of_page(session)
        if partner is None:
            raise NotFound
        g.brand = of_partner(partner)
        return partner.id


def _page(slug: str, token: str) -> Response:
    partner_id = _partner_id()
    with _handling_ended_link(slug), transaction(read_only=True) as session:
        view = email_changes.change_of_link(session, token, partner_id)
        page = render_template(
            "portal/auth/email_change.html",
            user=view.user,
            change=view.link.change,
            is_confirmed=view.link.is_confirmed,
            waits_for=_unconfirmed_address(view),
            reject_url=url_for("portal.auth.reject_email_change", slug=slug, token=token),
        )
    return without_referrer(make_response(page))


def _unconfirmed_address(view: EmailChangeView) -> str | None:
    """Return the address that has not confirmed the change yet; the first if neither has."""
    addresses = {AddressSide.OLD: view.user.email, AddressSide.NEW: view.link.change.email}
    waiting = (
        address
        for side, address in addresses.items()
        if confirmed_at(view.link.change, side) is None
    )
    return next(waiting, None)


def _render_outcome(slug: str, outcome: str, status: int, refusal: str = "") -> Response:
    """Return the page about an outcome of `OUTCOMES`; ``refusal`` is why nothing was changed."""
    title, text = OUTCOMES[outcome]
    page = render_template(
        "portal/auth/email_change_over.html",
        title=str(title),
        text=f"{refusal} {text}".strip(),
        sign_in_url=sign_in_url(slug),
    )
    return without_referrer(make_response(page, status))
