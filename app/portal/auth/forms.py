"""The sign-in form."""

from wtforms import EmailField, PasswordField
from wtforms.validators import InputRequired, Length

from app.errors import DomainError
from app.languages import lazy_gettext
from app.portal.web.fields import without_nul
from app.portal.web.forms import PortalForm


class SignInForm(PortalForm):
    email = EmailField(
        lazy_gettext("Email"),
        [
            InputRequired(lazy_gettext("Enter your email address.")),
            Length(max=254, message=lazy_gettext("Too long.")),
        ],
        filters=[without_nul],
        render_kw={"autocomplete": "username", "autofocus": True, "spellcheck": "false"},
    )
    password = PasswordField(
        lazy_gettext("Password"),
        [
            InputRequired(lazy_gettext("Enter your password.")),
            Length(max=1000, message=lazy_gettext("Too long.")),
        ],
        render_kw={"autocomplete": "current-password"},
    )
    suspended: str | None = None
    """The sentence that access is suspended, and who to contact."""
    refusal: str | None = None
    """Why the email and password together open no account; neither field alone is wrong."""

    def apply_errors(self, error: DomainError) -> None:
        self.refusal = error.message

    apply_limit = apply_errors
