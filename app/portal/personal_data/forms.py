"""The confirmation of an erasure: the person to erase must be typed."""

from wtforms import StringField

from app.languages import gettext, lazy_gettext
from app.portal.web.fields import without_nul
from app.portal.web.forms import PortalForm


class EraseForm(PortalForm):
    typed = StringField(
        lazy_gettext("Confirm"),
        filters=[without_nul],
        render_kw={"maxlength": 254, "autocomplete": "off", "required": True},
    )

    def confirms(self, expected: str) -> bool:
        """Return whether the expected text was typed; if not, the field says what to do."""
        if (self.typed.data or "").strip().casefold() == expected.strip().casefold():
            return True
        self.typed.errors = (*self.typed.errors, gettext("The text doesn’t match."))
        return False
