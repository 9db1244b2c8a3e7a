"""The forms of verified numbers: the number to call, and the code that was heard."""

from typing import ClassVar

from wtforms import StringField, TelField

from app.languages import lazy_gettext
from app.portal.web.fields import OnceField
from app.portal.web.forms import PortalForm


class NumberForm(PortalForm):
    wire_fields: ClassVar = {"contact.phoneNumber": "number"}

    once = OnceField()
    number = TelField(lazy_gettext("Number"), render_kw={"maxlength": 30, "autocomplete": "off"})


class CodeForm(PortalForm):
    code = StringField(
        lazy_gettext("Code"),
        render_kw={"maxlength": 20, "inputmode": "numeric", "autocomplete": "one-time-code"},
    )
