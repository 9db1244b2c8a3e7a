"""Forms of the user's own account."""

from functools import cache
from typing import Any
from zoneinfo import available_timezones

from babel.core import get_global
from wtforms import BooleanField, PasswordField, SelectField, StringField
from wtforms.validators import InputRequired, Length

from app.languages import LANGUAGES, gettext, lazy_gettext
from app.models import User
from app.portal.auth.password_forms import NewPasswordForm
from app.portal.web.fields import VersionField, without_nul
from app.portal.web.forms import PortalForm

_REGIONS = (
    *("Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe"),
    *("Indian", "Pacific"),
)


def zone_choices(present: str | None) -> list[tuple[str, str]]:
    """Return the zones that are named by a place, UTC first, and the current one."""
    names = set(_zones_of_places())
    if present and present != "UTC":
        names.add(present)
    return [("", "UTC"), *((zone, zone) for zone in sorted(names))]


@cache
def _zones_of_places() -> frozenset[str]:
    """Listing the time zones reads some hundred files. Former names are left out."""
    named = (zone for zone in available_timezones() if zone.partition("/")[0] in _REGIONS)
    return frozenset(named) - get_global("zone_aliases").keys()


class DetailsForm(PortalForm):
    version = VersionField()
    name = StringField(
        lazy_gettext("Name"),
        [Length(max=200, message=lazy_gettext("Too long. Use at most 200 characters."))],
        filters=[without_nul],
        render_kw={"autocomplete": "name"},
    )
    timezone = SelectField(lazy_gettext("Time zone"))
    language = SelectField(lazy_gettext("Language"), validate_choice=False)

    def __init__(self, *args: Any, present: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.timezone.choices = zone_choices(present)
        self.language.choices = [("", gettext("Automatic")), *LANGUAGES.items()]

    @classmethod
    def showing(cls, user: User) -> "DetailsForm":
        data = {
            "name": user.name,
            "timezone": "" if user.timezone in (None, "UTC") else user.timezone,
            "language": user.language or "",
            "version": user.version,
        }
        return cls.from_object(data=data, present=user.timezone)


class OwnPasswordForm(NewPasswordForm):
    present = PasswordField(
        lazy_gettext("Current password"),
        [InputRequired(lazy_gettext("Enter your current password."))],
        render_kw={"autocomplete": "current-password"},
    )


class MailsForm(PortalForm):
    import_finished = BooleanField(lazy_gettext("Uploads that take longer than a minute"))
    alert_opened = BooleanField(lazy_gettext("Alerts"))
    news = BooleanField(lazy_gettext("News and offers"))
