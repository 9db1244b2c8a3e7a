"""Confirm who you are before a risky act: with the password, or with the second factor."""

from functools import partial

from flask import Response, request
from flask import session as browser_session
from flask_login import current_user

from app.enums import Proof
from app.errors import RateLimited, ValidationFailed
from app.extensions import caller, password_checks, settings, transaction
from app.http.request_id import request_id
from app.languages import gettext
from app.portal.auth import blueprint, form_recovery
from app.portal.auth.login_manager import CHALLENGE_KEY
from app.portal.auth.second_step_forms import StepUpForm, submitted_code, wrong_code
from app.portal.auth.step_up import confirmed, site, step_up_page
from app.portal.web.current_user import local_path, session_token
from app.portal.web.forms import showing_problems
from app.services.auth import passwords, sessions
from app.services.factors import passkeys, proving
from app.services.factors.passkeys import PasskeyPurpose
from app.services.users import account as own


@blueprint.get("/account/confirm")
def show_step_up() -> Response:
    next_url = local_path(request.args.get("next"))
    if current_user.signed_in.is_fresh:
        return confirmed(next_url)
    return step_up_page(StepUpForm.from_object(), next_url, "")


@blueprint.post("/account/confirm")
def check_step_up() -> Response:
    form = StepUpForm()
    next_url, seal = local_path(request.form.get("next")), request.form.get("recovered", "")
    recovered = form_recovery.of_seal(seal) if seal else None
    with showing_problems(form, partial(step_up_page, form, next_url, seal)):
        proof = _check_proof(form)
    with transaction() as session:
        sessions.record_proof(session, session_token() or "", proof)
    return form_recovery.confirmed_page(recovered) if recovered else confirmed(next_url)


def _check_proof(form: StepUpForm) -> Proof | None:
    """Return the user's proof, None for the password. Raises `RateLimited` and
    `ValidationFailed`."""
    user = current_user.user
    if form.answer.data:
        challenge = browser_session.pop(CHALLENGE_KEY, "")
        with transaction() as session:
            passkeys.prove(
                session, site(), PasskeyPurpose.STEP_UP, challenge, form.answer.data, user.id
            )
        return Proof.PASSKEY
    if user.second_factor_at is None:
        check_password(form.current_password.data or "")
        return None
    code = submitted_code(form)
    with transaction() as session:
        proof = proving.use_code(
            session,
            user.id,
            code,
            settings=settings(),
            ip=request.remote_addr,
            request_id=request_id(),
        )
    if proof is None:
        raise wrong_code()
    return proof


def check_password(password: str) -> str | None:
    """Return the hash that the current password matches. Raises `RateLimited` and
    `ValidationFailed` (``wrong_password``)."""
    with transaction() as session:
        current_hash = own.begin_password_check(session, caller(), settings().failed_sign_ins)
    try:
        with password_checks().slot():
            is_right = passwords.verify(current_hash, password)
    except RateLimited:
        with transaction() as session:
            own.withdraw_password_check(session, caller())
        raise
    with transaction() as session:
        own.finish_password_check(session, caller(), is_right=is_right)
    if not is_right:
        message = gettext("This is not your current password. Try again.")
        raise ValidationFailed.on("currentPassword", "wrong_password", message)
    return current_hash
