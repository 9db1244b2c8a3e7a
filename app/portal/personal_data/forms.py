"""The forms of personal data: erasing a person, and retention."""

from wtforms import StringField

from app.enums import RetentionKind
from app.languages import gettext, lazy_gettext
from app.portal.personal_data.labels import KINDS
from app.portal.web.fields import VersionField, typed_number, without_nul
from app.portal.web.forms import PortalForm

_NUMBER_ATTRIBUTES = {"inputmode": "numeric", "autocomplete": "off"}


class EraseForm(PortalForm):
    """The confirmation: the person to erase must be typed."""

    typed = StringField(
        lazy_gettext("Confirm"),
        filters=[without_nul],
        render_kw={"maxlength": 254, "autocomplete": "off", "required": True},
    )

    def confirms(self, expected: str) -> bool:
        """Return whether the expected text was typed; if not, the field shows what to do."""
        if (self.typed.data or "").strip().casefold() == expected.strip().casefold():
            return True
        self.typed.errors = (*self.typed.errors, gettext("The text doesn’t match."))
        return False


class RetentionForm(PortalForm):
    """Blank numbers are the days of the installation. Fields are named by `RetentionKind`."""

    version = VersionField()
    recordings = StringField(KINDS[RetentionKind.RECORDINGS], render_kw=_NUMBER_ATTRIBUTES)
    transcripts = StringField(KINDS[RetentionKind.TRANSCRIPTS], render_kw=_NUMBER_ATTRIBUTES)
    uploads = StringField(KINDS[RetentionKind.UPLOADS], render_kw=_NUMBER_ATTRIBUTES)
    mails = StringField(KINDS[RetentionKind.MAILS], render_kw=_NUMBER_ATTRIBUTES)
    webhooks = StringField(KINDS[RetentionKind.WEBHOOKS], render_kw=_NUMBER_ATTRIBUTES)

    def days(self) -> dict[RetentionKind, int | None]:
        """Return the input; None for a number that is out of range."""
        return {kind: typed_number(self[kind.value].data) for kind in RetentionKind}
