"""The forms of a saved view, and of the value that an action on several rows needs."""

from collections.abc import Mapping

from wtforms import BooleanField, SelectChoice, SelectField, StringField
from wtforms.validators import InputRequired

from app.languages import lazy_gettext
from app.portal.web.fields import OnceField, VersionField, without_nul
from app.portal.web.forms import PortalForm
from app.services.saved_views import ViewInput


class SavedViewForm(PortalForm):
    once = OnceField()
    version = VersionField()
    name = StringField(lazy_gettext("Name"), filters=[without_nul])
    is_shared = BooleanField(lazy_gettext("Share with colleagues"))
    is_default = BooleanField(lazy_gettext("Open the list with this view"))

    def to_view(self) -> ViewInput:
        return ViewInput(
            self.name.data or "", bool(self.is_shared.data), bool(self.is_default.data)
        )


class ChoiceForm(PortalForm):
    choice = SelectField(
        validators=[InputRequired(lazy_gettext("Choose one."))], validate_choice=False
    )

    def set_choices(self, label: str, options: Mapping[str, str]) -> None:
        self.choice.label.text = label
        self.choice.choices = [
            SelectChoice(value, text)
            for value, text in (("", lazy_gettext("Choose…")), *options.items())
        ]
        if self.choice.data not in options:
            self.choice.data, self.choice.raw_data = "", []
