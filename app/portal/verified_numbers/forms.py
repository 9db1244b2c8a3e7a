"""The form for the code that verifies a number."""

from wtforms import StringField

from app.languages import lazy_gettext
from app.portal.web.forms import PortalForm


class CodeForm(PortalForm):
    code = StringField(
        lazy_gettext("Code"),
        render_kw={"maxlength": 20, "inputmode": "numeric", "autocomplete": "one-time-code"},
    )
