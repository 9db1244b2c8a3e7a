"""Forms for passwords: requesting a new one, setting it, accepting an invitation."""

from collections.abc import Sequence
from typing import Any

from wtforms import EmailField, PasswordField, StringField
from wtforms.validators import DataRequired, InputRequired, Length, ValidationError

from app.errors import ValidationFailed
from app.languages import gettext, lazy_gettext
from app.portal.web.fields import without_nul
from app.portal.web.forms import PortalForm
from app.services.auth import password_rules
from app.services.auth.passwords import MAX_LENGTH
from app.validation.emails import is_email

NEW_PASSWORD = {"autocomplete": "new-password", "spellcheck": "false"}


class ForgotForm(PortalForm):
    limited_field = "email"
    email = EmailField(
        lazy_gettext("Email"),
        [
            DataRequired(lazy_gettext("Enter your email address.")),
            Length(max=254, message=lazy_gettext("Too long.")),
        ],
        filters=[without_nul],
        render_kw={"autocomplete": "username", "autofocus": True, "spellcheck": "false"},
    )

    def validate_email(self, field: EmailField) -> None:
        if not is_email((field.data or "").strip()):
            raise ValidationError(gettext("Enter an email like name@example.com."))


class CurrentPasswordForm(PortalForm):
    current_password = PasswordField(
        lazy_gettext("Current password"),
        [InputRequired(lazy_gettext("Enter your current password."))],
        render_kw={"autocomplete": "current-password"},
    )


class NewPasswordForm(PortalForm):
    """The service has the rules for passwords; `validate` only checks that both are the same."""

    limited_field = "password"

    password = PasswordField(
        lazy_gettext("New password"),
        [InputRequired(lazy_gettext("Enter a new password."))],
        render_kw=NEW_PASSWORD,
    )
    again = PasswordField(
        lazy_gettext("Confirm password"),
        [InputRequired(lazy_gettext("Enter the password again."))],
        render_kw=NEW_PASSWORD | {"maxlength": str(MAX_LENGTH)},
    )

    def validate(self, extra_validators: Any = None) -> bool:
        valid: bool = super().validate(extra_validators)
        if valid and self.password.data != self.again.data:
            self.again.errors = (gettext("Passwords don’t match."),)
            return False
        return valid

    def meets_rules(self, personal_words: Sequence[str]) -> bool:
        """Return whether all fields are valid, and a password meets the rules of the service;
        ``personal_words`` are the words that it may not be."""
        valid = self.validate()
        if not self.password.data:
            return valid
        try:
            password_rules.check(self.password.data, known=personal_words)
        except ValidationFailed as error:
            self.password.errors = (error.message,)
            return False
        return valid


class InvitationForm(NewPasswordForm):
    name = StringField(
        lazy_gettext("Your name"),
        [Length(max=200, message=lazy_gettext("Too long. Use at most 200 characters."))],
        filters=[without_nul],
        render_kw={"autocomplete": "name"},
    )
