"""The form of a saved view."""

from wtforms import BooleanField, StringField

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

    @property
    def wanted(self) -> ViewInput:
        return ViewInput(
            self.name.data or "", bool(self.is_shared.data), bool(self.is_default.data)
        )
