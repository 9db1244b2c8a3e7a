"""The form of a carrier account."""

from wtforms import Form, PasswordField, StringField


class LineAccountForm(Form):
    sid = StringField("Account SID", render_kw={"maxlength": 34, "autocomplete": "off"})
    token = PasswordField("Auth token", render_kw={"maxlength": 200, "autocomplete": "off"})
