"""Confirm who you are before a risky act: with the password, or with the second factor."""

from flask import Response, request
from flask import session as browser
from flask_login import current_user

from app.enums import Proof
from app.errors import RateLimited, ValidationFailed
from app.extensions import caller, password_checks, settings, transaction
from app.http.request_id import request_id
from app.languages import gettext
from app.portal.auth import form_recovery
from app.portal.auth.login_manager import CHALLENGE_KEY
from app.portal.auth.second_step_forms import StepUpForm, typed_code
from app.portal.auth.step_up import confirmed, site, step_up_page
from app.portal.web.blueprint import portal
from app.portal.web.current_user import local_path, session_token
from app.portal.web.errors import with_wait
from app.services.auth import passwords, sessions
from app.services.factors import passkeys, proving
from app.services.factors.passkeys import PasskeyPurpose
from app.services.users import account as own


@portal.get("/account/confirm")
def step_up() -> Response:
    wanted = local_path(request.args.get("next"))
    if current_user.signed_in.is_fresh:
        return confirmed(wanted)
    return step_up_page(StepUpForm.from_object(), wanted, "", 200)


@portal.post("/account/confirm")
def step_up_confirm() -> Response:
    form = StepUpForm()
    wanted = local_path(request.form.get("next"))
    seal = request.form.get("recovered", "")
    recovered = form_recovery.of_seal(seal) if seal else None
    if not form.validate():
        return step_up_page(form, wanted, seal, 422)
    try:
        proof = _proof(form)
    except RateLimited as error:
        (form.code if current_user.second_factor_at else form.present).errors = (error.message,)
        return with_wait(step_up_page(form, wanted, seal, 429), error)
    except ValidationFailed as error:
        form.apply_errors(error)
        return step_up_page(form, wanted, seal, 422)
    with transaction() as session:
        sessions.prove_again(session, session_token() or "", proof)
    if recovered:
        return form_recovery.confirmed_page(recovered)
    return confirmed(wanted)


def _proof(form: StepUpForm) -> Proof | None:
    """Return what proved the user, None for the password. Raises `RateLimited` and
    `ValidationFailed`."""
    user = current_user.user
    if form.answer.data:
        challenge = browser.pop(CHALLENGE_KEY, "")
        with transaction() as session:
            passkeys.prove(
                session, site(), PasskeyPurpose.STEP_UP, challenge, form.answer.data, user.id
            )
        return Proof.PASSKEY
    if user.second_factor_at is None:
        check_password(form.present.data or "")
        return None
    code = typed_code(form)
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
        message = gettext("This code is wrong. Try the next one.")
        raise ValidationFailed.on("code", "wrong_code", message)
    return proof


def check_password(password: str) -> str | None:
    """Return the hash that the current password matches. Raises `RateLimited` and
    `ValidationFailed` (``wrong_password``)."""
    limit = settings().failed_sign_ins
    with transaction(read_only=True) as session:
        present = own.check_current_password(session, caller(), limit)
    with password_checks().turn():
        fits = passwords.verify(present, password)
    if not fits:
        with transaction() as session:
            own.note_wrong_password(session, caller(), limit)
        message = gettext("This is not your current password. Try again.")
        raise ValidationFailed.on("present", "wrong_password", message)
    return present
