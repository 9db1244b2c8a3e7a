"""Sign in after a form was sent without a session; then the form can be sent again."""

from functools import partial

from flask import redirect, request
from flask_login import current_user
from werkzeug.wrappers import Response

from app.errors import ValidationFailed
from app.languages import gettext, gettext_noop
from app.portal.auth import form_recovery
from app.portal.auth.forms import SignInForm
from app.portal.auth.login_manager import sign_in_user
from app.portal.auth.views import attempt, proof_without_step, refusal_of
from app.portal.web.blueprint import portal
from app.portal.web.forms import showing_problems
from app.services.auth.sign_in import SignInOutcome

SEVERAL = gettext_noop(
    "Your email opens several portals. Sign in to yours in another window, then send this form "
    "again."
)
SECOND = gettext_noop(
    "Your account needs a second step. Sign in in another window, then send this form again."
)


@portal.post("/p/<slug>/sign-in/again", endpoint="partner_sign_in_again")
@portal.post("/sign-in/again", endpoint="sign_in_again")
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
    """Raises `RateLimited`, and `ValidationFailed` for a sign-in that isn't finished here."""
    outcome = attempt(form.email.data or "", form.password.data or "")
    if outcome.user is None:
        form.paused = outcome.paused
        raise ValidationFailed(_refusal_of(outcome), "not_signed_in")
    sign_in_user(outcome.user, proof_without_step(outcome.user))


def _refusal_of(outcome: SignInOutcome) -> str:
    if outcome.second_step:
        return gettext(SECOND)
    return gettext(SEVERAL) if outcome.choices else refusal_of(outcome)
