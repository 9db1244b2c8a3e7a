"""The form of an organization's rules for calling."""

from dataclasses import asdict, replace

from wtforms import (
    BooleanField,
    SelectChoice,
    SelectField,
    SelectMultipleField,
)

from app.phone import regions
from app.portal.web.fields import ClockField, VersionField, WholeNumber
from app.portal.web.forms import PortalForm
from app.services.organizations import CallingRules
from app.services.organizations.settings import SATELLITE

USUAL_REGIONS = ("US", "CA", "GB", "IE", "AU", "NZ", "DE", "AT", "CH", "FR", "ES", "IT", "NL")
"""Offered first; the others follow on request."""
TOGETHER = (
    ("calling_hours_start", "calling_hours_end"),
    ("number_most_calls", "number_most_days"),
)
"""Fields that mean something only beside each other."""
_NUMBER = {"inputmode": "numeric", "autocomplete": "off"}


def named_regions() -> list[SelectChoice]:
    """Every region with its name as a list shows it: without the article, in capitals first."""
    found = [(code, name.removeprefix("the ")) for code, name in regions()]
    return [SelectChoice(code, name[0].upper() + name[1:]) for code, name in found]


class SettingsForm(PortalForm):
    version = VersionField()
    calling_hours_on = BooleanField("Limit calling hours")
    calling_hours_start = ClockField("From")
    calling_hours_end = ClockField("To")
    default_region = SelectField("Default region")
    allowed_regions = SelectMultipleField("Allowed regions")
    max_calls_at_once = WholeNumber("Calls at once", render_kw=_NUMBER)
    max_calls_a_day = WholeNumber("Calls a day", render_kw=_NUMBER)
    number_spacing_minutes = WholeNumber("Time between calls to one number", render_kw=_NUMBER)
    number_most_calls = WholeNumber("Calls to one number", render_kw=_NUMBER)
    number_most_days = WholeNumber("Period in days", render_kw=_NUMBER)
    retry_times = WholeNumber("Retries", required=True, render_kw=_NUMBER)
    retry_minutes = WholeNumber("Time between attempts", required=True, render_kw=_NUMBER)
    refuse_do_not_call = BooleanField("Refuse contacts on the do-not-call list")
    consent_required = BooleanField("Require consent")

    def __init__(self, *args: object, **more: object):
        super().__init__(*args, **more)
        named = named_regions()
        self.default_region.choices = named
        self.allowed_regions.choices = [
            *named,
            SelectChoice(SATELLITE, "Satellite and international networks"),
        ]

    @classmethod
    def showing(cls, rules: CallingRules, version: int) -> "SettingsForm":
        names = CallingRules.__dataclass_fields__
        values = {name: getattr(rules, name) for name in names}
        return cls.from_object(
            data={**values, "allowed_regions": list(rules.allowed_regions), "version": version}
        )

    def readable(self, stored: CallingRules) -> CallingRules:
        """The rules as typed, and as ``stored`` where what was typed could not be read."""
        unread = {name for name in CallingRules.__dataclass_fields__ if self[name].errors}
        unread |= {name for pair in TOGETHER if unread & {*pair} for name in pair}
        typed = asdict(self.to_rules())
        return replace(stored, **{name: typed[name] for name in typed.keys() - unread})

    def to_rules(self) -> CallingRules:
        """The rules as typed; for a form that was validated."""
        values = {name: self[name].data for name in CallingRules.__dataclass_fields__}
        return CallingRules(**{**values, "allowed_regions": tuple(self.allowed_regions.data or ())})
