"""The sign-in form."""

from wtforms import EmailField, Form, PasswordField
from wtforms.validators import InputRequired, Length


class SignInForm(Form):
    email = EmailField(
        "Email",
        [InputRequired("Enter your email address."), Length(max=254, message="Too long.")],
        filters=[lambda value: value.replace("\0", "").strip() if value else value],
        render_kw={"autocomplete": "username", "autofocus": True, "spellcheck": "false"},
    )
    password = PasswordField(
        "Password",
        [InputRequired("Enter your password."), Length(max=1000, message="Too long.")],
        render_kw={"autocomplete": "current-password"},
    )
