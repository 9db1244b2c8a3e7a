"""The form of a report's schedule."""

from datetime import time

from wtforms import SelectChoice, SelectField, TextAreaField

from app.languages import LANGUAGES, gettext, lazy_gettext
from app.portal.web.fields import VersionField, addresses_of
from app.portal.web.forms import PortalForm
from app.portal.web.zone_choices import zone_choices
from app.services.monthly_reports import ScheduleInput

UTC_CHOICE = ""
"""The value of UTC in the choice of time zones."""


class ScheduleForm(PortalForm):
    version = VersionField()
    recipients = TextAreaField(lazy_gettext("Recipients"), render_kw={"spellcheck": "false"})
    day = SelectField(
        lazy_gettext("Day of the month"),
        coerce=int,
        choices=[SelectChoice(str(day), str(day)) for day in range(1, 29)],
        validate_choice=False,
    )
    hour = SelectField(
        lazy_gettext("Hour"),
        coerce=int,
        choices=[SelectChoice(str(hour), f"{time(hour):%H:%M}") for hour in range(24)],
    )
    timezone = SelectField(lazy_gettext("Time zone"))
    language = SelectField(lazy_gettext("Language"), validate_choice=False)

    def __init__(self, *args: object, present: str | None = None, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.timezone.choices = zone_choices(present, utc=UTC_CHOICE)
        self.language.choices = [("", gettext("Your portal’s language")), *LANGUAGES.items()]

    @classmethod
    def showing(cls, stored: ScheduleInput, version: int) -> "ScheduleForm":
        return cls.from_object(
            version=version,
            recipients="\n".join(stored.recipients),
            day=stored.day,
            hour=stored.hour,
            timezone=UTC_CHOICE if stored.timezone == "UTC" else stored.timezone,
            language=stored.language or "",
            present=stored.timezone,
        )

    def to_schedule(self) -> ScheduleInput:
        addresses = addresses_of(self.recipients)
        return ScheduleInput(
            self.day.data or 0,
            self.hour.data,
            self.timezone.data or "UTC",
            tuple(addresses),
            self.language.data or None,
        )
