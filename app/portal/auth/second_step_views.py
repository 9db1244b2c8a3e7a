"""The second step of signing in, and signing in with a passkey alone."""

from uuid import UUID

from flask import g, redirect, render_template, request, url_for
from flask import session as browser_session
from flask_login import current_user
from werkzeug.wrappers import Response

from app.enums import Proof
from app.errors import NotFound, ValidationFailed
from app.extensions import settings, transaction
from app.http.request_id import request_id
from app.languages import gettext, ngettext
from app.models import Partner, User
from app.portal.auth import blueprint
from app.portal.auth.login_manager import CHALLENGE_KEY, REMEMBERED_COOKIE, SECOND_STEP_KEY
from app.portal.auth.second_step_forms import SecondStepForm, submitted_code, wrong_code
from app.portal.auth.step_up import site
from app.portal.auth.views import company_account_required, sign_in_and_redirect
from app.portal.web.blueprint import Page
from app.portal.web.cookies import keep_cookie, read_cookie
from app.portal.web.current_user import sign_in_url
from app.portal.web.forms import showing_problems
from app.portal.web.i18n import set_language_before_sign_in
from app.portal.web.messages import changing, flash
from app.services.auth import second_step as waiting_steps
from app.services.auth import sign_in as signing_in
from app.services.auth.sessions import host_name
from app.services.branding.brand import of_partner
from app.services.factors import authenticator_apps, passkeys, proving, recovery_codes
from app.services.factors.passkeys import PasskeyPurpose
from app.services.factors.proving import ProvenUser


@blueprint.get("/sign-in/second-step")
def show_second_step() -> Page:
    user = _waiting_user()
    return _render_form(SecondStepForm.from_object(), user) if user else _start_again()


@blueprint.post("/sign-in/second-step")
def check_second_step() -> Page:
    user = _waiting_user()
    if user is None:
        return _start_again()
    form = SecondStepForm()
    with showing_problems(form, lambda: _render_form(form, user), validate=False):
        signed_in = _complete_sign_in(form, user)
    return _let_in(form, signed_in) if signed_in else _start_again()


@blueprint.post("/passkey/options")
def passkey_sign_in_options() -> Response:
    """Return the options for the browser's passkey dialog, as JSON."""
    purpose, user_id = _requested_proof()
    with transaction() as session:
        passkey_request = passkeys.ask_to_prove(session, site(), purpose, user_id)
    browser_session[CHALLENGE_KEY] = passkey_request.challenge
    return Response(passkey_request.options, mimetype="application/json")


def _requested_proof() -> tuple[PasskeyPurpose, UUID | None]:
    """Return the purpose of the requested proof, and its user; None if that isn't known. Raises
    `NotFound`."""
    purpose = request.args.get("purpose", "")
    if purpose == PasskeyPurpose.SIGN_IN:
        return PasskeyPurpose.SIGN_IN, None
    if purpose == PasskeyPurpose.SECOND_STEP and (user_id := _waiting_id()):
        return PasskeyPurpose.SECOND_STEP, user_id
    if purpose == PasskeyPurpose.STEP_UP and current_user.is_authenticated:
        return PasskeyPurpose.STEP_UP, current_user.user.id
    raise NotFound


@blueprint.post("/sign-in/passkey")
def sign_in_with_passkey() -> Page:
    """Sign in with a passkey alone: the device has checked its user."""
    url = sign_in_url(g.brand.slug, request.args.get("next"))
    challenge, answer = browser_session.pop(CHALLENGE_KEY, ""), SecondStepForm().answer.data or ""
    with changing(url, ValidationFailed, tone="danger") as session:
        user_id = passkeys.prove(session, site(), PasskeyPurpose.SIGN_IN, challenge, answer)
        user = signing_in.finish_second_step(session, user_id, request.remote_addr, request_id())
        required = None if user else signing_in.required_provider_of(session, user_id)
    if required:
        flash(company_account_required(required), "danger")
    return sign_in_and_redirect(user, Proof.PASSKEY) if user else redirect(url, 303)


def _complete_sign_in(form: SecondStepForm, user: User) -> ProvenUser | None:
    """Return the user that the form signs in; None if the sign-in no longer waits.

    Raises `RateLimited` and `ValidationFailed`.
    """
    proven_user = _by_passkey(user.id, form.answer.data) if form.answer.data else _by_code(form)
    if proven_user is None and _waiting_id():
        raise wrong_code()
    return proven_user


def _let_in(form: SecondStepForm, proven_user: ProvenUser) -> Response:
    response = sign_in_and_redirect(proven_user.user, proven_user.proof)
    if proven_user.proof is Proof.RECOVERY_CODE:
        _flash_remaining_codes(proven_user.user)
    if form.remember.data:
        _remember(response, proven_user.user)
    return response


def _by_code(form: SecondStepForm) -> ProvenUser | None:
    code = submitted_code(form)
    with transaction() as session:
        return proving.sign_in_with_code(
            session,
            browser_session.get(SECOND_STEP_KEY, ""),
            code,
            host=request.host,
            settings=settings(),
            ip=request.remote_addr,
            request_id=request_id(),
        )


def _by_passkey(user_id: UUID, answer: str) -> ProvenUser | None:
    challenge = browser_session.pop(CHALLENGE_KEY, "")
    with transaction() as session:
        passkeys.prove(session, site(), PasskeyPurpose.SECOND_STEP, challenge, answer, user_id)
        return proving.finish(
            session,
            browser_session.get(SECOND_STEP_KEY, ""),
            user_id,
            Proof.PASSKEY,
            ip=request.remote_addr,
            request_id=request_id(),
        )


def _flash_remaining_codes(user: User) -> None:
    with transaction(read_only=True) as session:
        remaining = recovery_codes.count_left(session, user.id)
    message = ngettext(
        "%(num)s recovery code is left. Each replaces your second factor once.",
        "%(num)s recovery codes are left. Each replaces your second factor once.",
        remaining,
    )
    flash(message, "info")


def _waiting_id() -> UUID | None:
    with transaction(read_only=True) as session:
        token = browser_session.get(SECOND_STEP_KEY)
        return waiting_steps.waiting(session, token, host=host_name(request.host))


def _waiting_user() -> User | None:
    """Return the user whose sign-in waits in this browser; the page gets their brand and
    language."""
    user_id = _waiting_id()
    if user_id is None:
        return None
    with transaction(read_only=True) as session:
        # nosemgrep: query-in-a-face - the user who has entered the password
        user = session.get(User, user_id)
        # nosemgrep: query-in-a-face - the partner of this user
        partner = session.get(Partner, user.partner_id) if user and user.partner_id else None
        if partner:
            g.brand = of_partner(partner)
    if user:
        set_language_before_sign_in(user.language, g.brand.language)
    return user


def _remember(response: Response, user: User) -> None:
    with transaction() as session:
        token = waiting_steps.remember(session, user.id, read_cookie(REMEMBERED_COOKIE))
    keep_cookie(response, REMEMBERED_COOKIE, token)


def _render_form(form: SecondStepForm, user: User) -> str:
    with transaction(read_only=True) as session:
        has_app = authenticator_apps.is_confirmed(session, user.id)
        has_passkey = passkeys.count(session, user.id, site().rp_id) > 0
    return render_template(
        "portal/auth/second_step.html",
        form=form,
        user=user,
        has_app=has_app,
        has_passkey=has_passkey,
        options_url=url_for(
            "portal.auth.passkey_sign_in_options", purpose=PasskeyPurpose.SECOND_STEP
        ),
        sign_in_url=sign_in_url(g.brand.slug),
    )


def _start_again() -> Response:
    """Start again: the sign-in took too long or was finished."""
    if not current_user.is_authenticated:
        flash(gettext("Signing in took too long. Start again."), "danger")
    return redirect(sign_in_url(g.brand.slug, request.args.get("next")), 303)
