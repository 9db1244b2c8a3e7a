"""Sign in, in the partner's brand, also after a form was sent without a session, and sign out."""

from collections.abc import Sequence
from functools import partial
from typing import Any
from uuid import UUID

from flask import g, redirect, render_template, request, url_for
from flask import session as browser_session
from flask_login import current_user
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import Proof
from app.errors import DomainError, ValidationFailed
from app.extensions import password_checks, settings, transaction
from app.http.request_id import request_id
from app.languages import gettext, gettext_noop
from app.models import Partner, User
from app.portal.auth import blueprint, form_recovery
from app.portal.auth.forms import SignInForm
from app.portal.auth.login_manager import (
    DEVICE_COOKIE,
    OFFER_KEY,
    REMEMBERED_COOKIE,
    SECOND_STEP_KEY,
    is_known_browser,
    sign_in_user,
    sign_out_user,
)
from app.portal.web.blueprint import Page
from app.portal.web.cookies import keep_cookie, read_cookie
from app.portal.web.current_user import PARTNER_COOKIE, local_path, sign_in_url, with_kept_params
from app.portal.web.forms import showing_problems
from app.portal.web.i18n import LANGUAGE_COOKIE
from app.portal.web.messages import redirect_with
from app.services.auth import sign_in as signing_in
from app.services.auth.offered_accounts import AccountOffer
from app.services.auth.sessions import SessionOrigin
from app.services.auth.sign_in import PortalChoice, SignInOutcome
from app.services.identity_providers import requests as provider_requests
from app.validation.uuids import as_uuid

REFUSED = gettext_noop("Email or password is wrong. Check both and try again.")


@blueprint.get("/p/<slug>/sign-in")
@blueprint.get("/sign-in")
def sign_in(slug: str | None = None) -> Page:
    """Show the form; with ``show`` in the URL, to signed-in users too."""
    if current_user.is_authenticated and "show" not in request.args:
        return redirect(local_path(request.args.get("next")), 303)
    response = Response(_render_form(slug), mimetype="text/html")
    if slug:
        keep_cookie(response, PARTNER_COOKIE, slug)
    return response


@blueprint.get("/p/<slug>")
def partner_portal(slug: str) -> Response:
    return redirect(url_for("portal.auth.sign_in", slug=slug), 303)


@blueprint.post("/p/<slug>/sign-in")
@blueprint.post("/sign-in")
def check_password(slug: str | None = None) -> Page:
    form = SignInForm()
    with showing_problems(form, partial(_render_form, slug, form)):
        outcome = check_credentials(form.email.data or "", form.password.data or "")
    if not outcome.refused and not outcome.choices:
        return complete_sign_in(outcome)
    if outcome.offer:
        return _choose_page(outcome.choices, outcome.offer)
    return _render_refused(slug, form, outcome)


@blueprint.post("/sign-in/choose")
def choose_portal() -> Page:
    """Choose one of several portals after the neutral sign-in."""
    offer = AccountOffer(request.form.get("token", ""), browser_session.pop(OFFER_KEY, ""))
    account_id = as_uuid(request.form.get("account", "")) or UUID(int=0)
    with transaction() as session:
        outcome = signing_in.choose(
            session, account_id, offer, ip=request.remote_addr, **_request_context()
        )
    return (
        redirect(url_for("portal.auth.sign_in"), 303)
        if outcome.refused
        else complete_sign_in(outcome)
    )


@blueprint.post("/sign-out")
def sign_out() -> Response:
    is_signed_in = current_user.is_authenticated
    partner: Partner | None = current_user.partner if is_signed_in else None
    redirect_url = partner.partner_redirect_link if partner else None
    language: str | None = current_user.language if is_signed_in else None
    sign_out_user()
    response = redirect(redirect_url, 303) if redirect_url else _to_sign_in()
    if language:
        keep_cookie(response, LANGUAGE_COOKIE, language)
    response.headers["Clear-Site-Data"] = '"cache"'
    return response


def _to_sign_in() -> Response:
    return redirect_with(gettext("You are signed out."), sign_in_url(g.brand.slug))


def check_credentials(email: str, password: str) -> SignInOutcome:
    """Check the email and password on the current page. Raises `RateLimited`."""
    with transaction() as session:
        partner = partner_of_page(session)
        started = signing_in.begin(
            session,
            email=email,
            ip=request.remote_addr,
            partner_id=partner.id if partner else None,
            settings=settings(),
            device_cookie=read_cookie(DEVICE_COOKIE),
        )
    if started.refusal:
        raise started.refusal
    try:
        proven = signing_in.verify(started, password, password_checks())
    except DomainError:
        with transaction() as session:
            signing_in.withdraw(session, started)
        raise
    with transaction() as session:
        return signing_in.finish(session, started, proven, **_request_context())


def _request_context() -> dict[str, Any]:
    """Return the host and place for a sign-in's second step."""
    remembered = read_cookie(REMEMBERED_COOKIE)
    return {"request_id": request_id(), "host": request.host, "remembered": remembered}


def refusal_of(outcome: SignInOutcome) -> str:
    """Return why the email and password open no account."""
    if outcome.suspended_slug:
        return gettext("This portal is paused")
    if outcome.required_provider is None:
        return gettext(REFUSED)
    return company_account_required(outcome.required_provider)


def company_account_required(provider: str) -> str:
    """Return the words for users who must sign in with this company account."""
    return gettext("Your company requires its own account. Sign in with %(name)s.", name=provider)


def partner_of_page(session: Session) -> Partner | None:
    """Return the partner by the URL's slug or the host's verified domain; None on the
    neutral page."""
    slug = (request.view_args or {}).get("slug")
    if slug:
        return signing_in.active_partner_by_slug(session, slug, request.host)
    return signing_in.active_partner_by_host(session, request.host)


def complete_sign_in(outcome: SignInOutcome, *, notify: bool = True) -> Response:
    """Sign in, or lead to the second step. ``notify`` sends the user a mail about a new browser."""
    if outcome.user is not None:
        return sign_in_and_redirect(outcome.user, proof_without_step(outcome.user), notify=notify)
    browser_session[SECOND_STEP_KEY] = outcome.second_step
    return redirect(url_for("portal.auth.show_second_step", next=request.args.get("next")), 303)


def proof_without_step(user: User) -> Proof | None:
    """Return the proof with which the session of a user without a second step starts."""
    return Proof.REMEMBERED if user.second_factor_at else None


def sign_in_and_redirect(
    user: User,
    proof: Proof | None = None,
    *,
    notify: bool = True,
    next_path: str | None = None,
    origin: SessionOrigin | None = None,
) -> Response:
    """Sign the user in and redirect to ``next_path``, by default the requested page. The brand of
    the user's partner is that of the next sign-in page in this browser."""
    if notify and not is_known_browser(user):
        with transaction() as session:
            signing_in.mail_about_new_browser(session, user, request.remote_addr)
    sign_in_user(user, proof, origin)
    next_url = request.args.get("next") if next_path is None else next_path
    partner: Partner | None = current_user.partner
    response = redirect(with_kept_params(local_path(next_url), partner), 303)
    if partner:
        keep_cookie(response, PARTNER_COOKIE, partner.slug)
    return response


def _render_form(slug: str | None, form: SignInForm | None = None) -> str:
    with transaction(read_only=True) as session:
        partner = partner_of_page(session)
        providers = provider_requests.offered_providers(session, partner.id) if partner else []
    return render_template(
        "portal/auth/form.html",
        form=form or SignInForm.from_object(),
        providers=providers,
        slug=partner.slug if partner else None,
        next_path=local_path(request.args.get("next")),
        forgot_url=forgot_url(slug),
    )


def _render_refused(slug: str | None, form: SignInForm, outcome: SignInOutcome) -> Page:
    if outcome.suspended_slug:
        return redirect(sign_in_url(outcome.suspended_slug), 303)
    form.suspended, form.refusal = outcome.suspended, refusal_of(outcome)
    return _render_form(slug, form), 422


def _choose_page(choices: Sequence[PortalChoice], offer: AccountOffer) -> str:
    browser_session[OFFER_KEY] = offer.browser_token
    return render_template("portal/auth/choose.html", choices=choices, token=offer.page_token)


def forgot_url(slug: str | None) -> str:
    """Return the URL of the form that requests a new password, of the partner if one is given."""
    return url_for("portal.auth.forgot_password", slug=slug or None)


SEVERAL = gettext_noop(
    "Your email opens several portals. Sign in to yours in another window, then send this form "
    "again."
)
SECOND = gettext_noop(
    "Your account needs a second step. Sign in in another window, then send this form again."
)


@blueprint.post("/p/<slug>/sign-in/again")
@blueprint.post("/sign-in/again")
def sign_in_again(slug: str | None = None) -> Response:  # noqa: ARG001 - read from the address
    recovered = form_recovery.of_seal(request.form.get("recovered", ""))
    if recovered is None:
        return redirect("/", 303)
    if not current_user.is_authenticated:  # in another window, meanwhile
        form = SignInForm()
        with showing_problems(form, partial(form_recovery.sign_in_page, recovered, form)):
            _sign_in(form)
    return form_recovery.send_again_page(recovered, status=200, signed_in=True)


def _sign_in(form: SignInForm) -> None:
    """Sign in again. Raises `RateLimited`, and `ValidationFailed` for a sign-in that isn't finished
    here."""
    outcome = check_credentials(form.email.data or "", form.password.data or "")
    if outcome.user is None:
        form.suspended = outcome.suspended
        raise ValidationFailed(_refusal_of(outcome), "not_signed_in")
    sign_in_user(outcome.user, proof_without_step(outcome.user))


def _refusal_of(outcome: SignInOutcome) -> str:
    if outcome.second_step:
        return gettext(SECOND)
    return gettext(SEVERAL) if outcome.choices else refusal_of(outcome)
