"""The sign-in form."""

from wtforms import EmailField, PasswordField
from wtforms.validators import InputRequired, Length

from app.portal.web.fields import without_nul
from app.portal.web.forms import PortalForm


class SignInForm(PortalForm):
    email = EmailField(
        "Email",
        [InputRequired("Enter your email address."), Length(max=254, message="Too long.")],
        filters=[without_nul],
        render_kw={"autocomplete": "username", "autofocus": True, "spellcheck": "false"},
    )
    password = PasswordField(
        "Password",
        [InputRequired("Enter your password."), Length(max=1000, message="Too long.")],
        render_kw={"autocomplete": "current-password"},
    )
    paused: str | None = None

    def refuse(self, paused: str | None, otherwise: str) -> None:
        """Say that access is paused and who to ask, or what is wrong at the password."""
        self.paused = paused
        self.password.errors = () if paused else (otherwise,)
