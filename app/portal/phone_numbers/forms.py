"""The form that assigns phone numbers."""

from collections.abc import Sequence

from wtforms import TextAreaField

from app.languages import lazy_gettext
from app.portal.web.fields import OnceField, lines_of
from app.portal.web.forms import PortalForm


class AssignForm(PortalForm):
    once = OnceField()
    numbers = TextAreaField(lazy_gettext("Phone numbers"), render_kw={"spellcheck": "false"})

    @property
    def submitted_numbers(self) -> Sequence[str]:
        return lines_of(self.numbers)
