"""Forgotten passwords, and the links in mails: a new password, an invitation.

Opening a link never uses it up, because mail scanners open links too. Sending the form does.
"""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar
from uuid import UUID

from flask import Flask, g, make_response, redirect, render_template, request
from werkzeug.wrappers import Response

from app.enums import Role
from app.errors import NotFound
from app.extensions import password_checks, transaction
from app.http.request_id import request_id
from app.languages import gettext
from app.models import LinkPurpose, Organization, User
from app.portal.auth import blueprint
from app.portal.auth.password_forms import ForgotForm, InvitationForm, NewPasswordForm
from app.portal.auth.views import complete_sign_in, forgot_url, partner_of_page
from app.portal.operator.views import outbox_url
from app.portal.web.blueprint import Page
from app.portal.web.current_user import sign_in_url
from app.portal.web.forms import saving, showing_problems
from app.portal.web.messages import flash
from app.services.auth import password_rules, recovery
from app.services.auth.sign_in import SignInOutcome
from app.services.branding.brand import NEUTRAL, of_partner
from app.services.users import mailed_links


@blueprint.get("/p/<slug>/forgot-password")
@blueprint.get("/forgot-password")
def forgot_password(slug: str | None = None) -> str:
    if "sent" in request.args:
        return render_template(
            "portal/auth/password_asked.html",
            sign_in_url=sign_in_url(slug),
            outbox_url=outbox_url(),
        )
    return _render_forgot(slug, ForgotForm())


@blueprint.post("/p/<slug>/forgot-password")
@blueprint.post("/forgot-password")
def send_recovery_link(slug: str | None = None) -> Page:
    """Give the same response whether or not there is an account."""
    form = ForgotForm()
    with saving(form, partial(_render_forgot, slug, form)) as session:
        partner = partner_of_page(session)
        email, partner_id = form.email.data or "", partner.id if partner else None
        recovery.enqueue_recovery(
            session, email=email, partner_id=partner_id, ip=request.remote_addr
        )
    return redirect(f"{forgot_url(slug)}?sent", 303)


@blueprint.get("/p/<slug>/password/<token>")
@blueprint.get("/password/<token>")
def show_password(token: str, slug: str | None = None) -> Response:
    """The neutral URL serves users without a partner."""
    return _show(NewPasswordForm(), token, slug, mailed_links.PASSWORD)


@blueprint.post("/p/<slug>/password/<token>")
@blueprint.post("/password/<token>")
def set_password(token: str, slug: str | None = None) -> Response:
    return _set_password(NewPasswordForm(), token, slug, mailed_links.PASSWORD)


@blueprint.get("/p/<slug>/invitation/<token>")
def show_invitation(token: str, slug: str) -> Response:
    return _show(InvitationForm(), token, slug, mailed_links.INVITATION)


@blueprint.post("/p/<slug>/invitation/<token>")
def accept_invitation(token: str, slug: str) -> Response:
    return _set_password(InvitationForm(), token, slug, mailed_links.INVITATION)


R = TypeVar("R", bound=Response)

_TOKEN = re.compile(r"(/(?:password|invitation|email)/)[\w-]+")


class _WithoutTokens(logging.Filter):
    """Keeps the tokens of links out of the log, which contains the URLs of failed requests."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = _TOKEN.sub(r"\1…", record.getMessage()), ()
        return True


_without_tokens = _WithoutTokens()


def register(app: Flask) -> None:
    app.logger.addFilter(_without_tokens)


@dataclass(frozen=True, slots=True)
class _LinkUser:
    """The user of a link, for its page; the partner's id is None for an operator.

    ``known`` are words that the password must not consist of.
    """

    user: User
    partner_id: UUID | None
    known: Sequence[str]


def _load_link_user(token: str, purposes: tuple[LinkPurpose, ...]) -> _LinkUser | None:
    """Return the link's user, or None if the link does not work.

    The page has the brand of its URL, even if another user is signed in.
    """
    with transaction(read_only=True) as session:
        partner = partner_of_page(session)
        g.brand = of_partner(partner) if partner else NEUTRAL
        partner_id = partner.id if partner else None
        try:
            user = mailed_links.user_of_link(session, token, purposes, partner_id)
        except NotFound:
            return None
        return _LinkUser(user, partner_id, password_rules.known_words(session, user))


def _show(
    form: NewPasswordForm, token: str, slug: str | None, purposes: tuple[LinkPurpose, ...]
) -> Response:
    link_user = _load_link_user(token, purposes)
    if link_user is None:
        return _render_ended(slug, purposes)
    if isinstance(form, InvitationForm):
        form.name.data = link_user.user.name
    return _render_form(form, link_user.user, 200)


def _set_password(
    form: NewPasswordForm, token: str, slug: str | None, purposes: tuple[LinkPurpose, ...]
) -> Response:
    link_user = _load_link_user(token, purposes)
    if link_user is None:
        return _render_ended(slug, purposes)
    password = form.password.data or ""
    name = form.name.data if isinstance(form, InvitationForm) else None
    personal_words = [*link_user.known, name or ""]
    if not form.meets_rules(personal_words):
        return _render_form(form, link_user.user, 422)
    with showing_problems(form, lambda: _render_form(form, link_user.user, 422), validate=False):
        password_hash = password_rules.hash_new(
            password, known=personal_words, checks=password_checks()
        )
    try:
        with transaction() as session:
            entry = mailed_links.accept(
                session,
                token,
                purposes,
                link_user.partner_id,
                password_hash=password_hash,
                name=name,
                ip=request.remote_addr,
                request_id=request_id(),
                host=request.host,
            )
    except NotFound:  # used a moment ago, in another window
        return _render_ended(slug, purposes)
    if entry.user is None:
        message = gettext("Password set.")
    elif purposes == mailed_links.INVITATION:
        message = _welcome_message(entry.user)
    else:
        message = gettext("Password set. You are signed in.")
    flash(message, "success")
    return without_referrer(_finish_sign_in(entry, slug))


def _welcome_message(user: User) -> str:
    with transaction(read_only=True) as session:
        organization = (
            # nosemgrep: query-in-a-face - the organization of the user whose link was opened
            session.get(Organization, user.organization_id) if user.organization_id else None
        )
    names = {
        "name": user.name or user.email,
        "organization": organization.name if organization else None,
    }
    if organization is None:
        return gettext("Welcome, %(name)s. You are signed in.", **names)
    if user.role is Role.OWNER:
        return gettext("Welcome, %(name)s. You are an owner of %(organization)s.", **names)
    return gettext("Welcome, %(name)s. You are a member of %(organization)s.", **names)


def _finish_sign_in(outcome: SignInOutcome, slug: str | None) -> Response:
    """Sign in or ask for the second step, unless the partner requires a company account."""
    if outcome.refused:
        return redirect(sign_in_url(slug), 303)
    return complete_sign_in(outcome, notify=False)


def _render_form(form: NewPasswordForm, user: User, status: int) -> Response:
    page = render_template("portal/auth/password_set.html", form=form, user=user)
    return without_referrer(make_response(page, status))


def _render_ended(slug: str | None, purposes: tuple[LinkPurpose, ...]) -> Response:
    page = render_template(
        "portal/auth/password_ended.html",
        invitation=purposes == mailed_links.INVITATION,
        forgot_url=forgot_url(slug),
        sign_in_url=sign_in_url(slug),
    )
    return without_referrer(make_response(page, 410))


def _render_forgot(slug: str | None, form: ForgotForm) -> str:
    return render_template(
        "portal/auth/password_forgot.html", form=form, sign_in_url=sign_in_url(slug)
    )


def without_referrer(response: R) -> R:
    """Return the response without a referrer: the URL contains a token."""
    response.headers["Referrer-Policy"] = "no-referrer"
    return response
