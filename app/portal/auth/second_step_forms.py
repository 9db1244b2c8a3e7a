"""Forms that prove who the user is: a code, a passkey or the password."""

from flask_login import current_user
from wtforms import BooleanField, HiddenField, PasswordField, StringField
from wtforms.validators import Length

from app.errors import RateLimited, ValidationFailed
from app.languages import gettext, lazy_gettext
from app.portal.web.fields import without_nul
from app.portal.web.forms import PortalForm

MAX_CHARACTERS = 20_000


def _code_field(**render: object) -> StringField:
    return StringField(
        lazy_gettext("Code"),
        [Length(max=100, message=lazy_gettext("Too long."))],
        filters=[without_nul],
        render_kw={
            "autocomplete": "one-time-code",
            "autocapitalize": "none",
            "spellcheck": "false",
            **render,
        },
    )


def submitted_code(form: "SecondStepForm | AppForm | StepUpForm") -> str:
    """Return the code of the form. Raises `ValidationFailed` (``required``)."""
    code = form.code.data or ""
    if not code.strip():
        raise ValidationFailed.on("code", "required", gettext("Enter the code."))
    return code


def wrong_code() -> ValidationFailed:
    message = gettext("This code is wrong. Try the next one.")
    return ValidationFailed.on("code", "wrong_code", message)


class SecondStepForm(PortalForm):
    limited_field = "code"
    code = _code_field(autofocus=True)  # a recovery code has letters too
    answer = HiddenField(validators=[Length(max=MAX_CHARACTERS)])
    remember = BooleanField(lazy_gettext("Don’t ask again in this browser for 30 days"))


class AppForm(PortalForm):
    code = _code_field(inputmode="numeric")


class PasskeyForm(PortalForm):
    name = StringField(
        lazy_gettext("Name"),
        [Length(max=200, message=lazy_gettext("Too long. Use at most 200 characters."))],
        filters=[without_nul],
    )
    answer = HiddenField(validators=[Length(max=MAX_CHARACTERS)])


class StepUpForm(PortalForm):
    """The template shows one of both fields, depending on the user's factors."""

    current_password = PasswordField(
        lazy_gettext("Current password"),
        render_kw={"autocomplete": "current-password", "autofocus": True},
    )
    code = _code_field(autofocus=True)
    answer = HiddenField(validators=[Length(max=MAX_CHARACTERS)])

    def apply_limit(self, error: RateLimited) -> None:
        field = self.code if current_user.second_factor_at else self.current_password
        field.errors = (error.message,)
