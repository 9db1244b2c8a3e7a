"""The form of an organization's calling rules."""

from dataclasses import asdict, replace

from wtforms import BooleanField, SelectField, SelectMultipleField

from app.languages import lazy_gettext
from app.portal.web.fields import ClockField, VersionField, WholeNumber
from app.portal.web.forms import PortalForm
from app.portal.web.region_choices import named_regions
from app.services.organizations import CallingRules, OpenableRegions

TOGETHER = (
    ("calling_hours_start", "calling_hours_end"),
    ("number_most_calls", "number_most_days"),
)
"""Fields that belong together."""


class SettingsForm(PortalForm):
    version = VersionField()
    calling_hours_on = BooleanField(lazy_gettext("Limit calling hours"))
    calling_hours_start = ClockField(lazy_gettext("From"))
    calling_hours_end = ClockField(lazy_gettext("To"))
    default_region = SelectField(lazy_gettext("Default region"))
    allowed_regions = SelectMultipleField(lazy_gettext("Allowed regions"))
    max_calls_at_once = WholeNumber(lazy_gettext("Concurrent calls"))
    max_calls_a_day = WholeNumber(lazy_gettext("Calls a day"))
    number_spacing_minutes = WholeNumber(lazy_gettext("Time between calls to one number"))
    number_most_calls = WholeNumber(lazy_gettext("Calls to one number"))
    number_most_days = WholeNumber(lazy_gettext("Period"))
    retry_times = WholeNumber(lazy_gettext("Retries"), required=True)
    retry_minutes = WholeNumber(lazy_gettext("Time between attempts"), required=True)
    refuse_do_not_call = BooleanField(lazy_gettext("Refuse contacts on the do-not-call list"))
    consent_required = BooleanField(lazy_gettext("Require consent"))

    def __init__(self, *args: object, **more: object):
        super().__init__(*args, **more)
        named = named_regions()
        self.default_region.choices = named
        self.allowed_regions.choices = named

    @classmethod
    def showing(cls, rules: CallingRules, version: int) -> "SettingsForm":
        names = CallingRules.__dataclass_fields__
        values = {name: getattr(rules, name) for name in names}
        values["allowed_regions"] = list(rules.allowed_regions)
        return cls.from_object(**values, version=version)

    def limit_choices(self, openable: OpenableRegions, stored: CallingRules) -> None:
        """Remove the regions that can't be chosen and aren't."""
        default_regions = {stored.default_region, self.default_region.data}
        allowed = {*stored.allowed_regions, *(self.allowed_regions.data or ())}
        named = named_regions()
        self.default_region.choices = [
            choice
            for choice in named
            if choice.value in default_regions or openable.closed_as_own(choice.value) is None
        ]
        self.allowed_regions.choices = [
            choice
            for choice in named
            if choice.value in allowed or openable.closed_by(choice.value) is None
        ]

    def readable(self, stored: CallingRules) -> CallingRules:
        """Return the rules of the input, and as ``stored`` for unreadable values."""
        unreadable_names = {name for name in CallingRules.__dataclass_fields__ if self[name].errors}
        unreadable_names |= {
            name for pair in TOGETHER if unreadable_names & {*pair} for name in pair
        }
        submitted = asdict(self.to_rules())
        return replace(
            stored, **{name: submitted[name] for name in submitted.keys() - unreadable_names}
        )

    def to_rules(self) -> CallingRules:
        """Return the rules of the input; for a validated form."""
        values = {name: self[name].data for name in CallingRules.__dataclass_fields__}
        return CallingRules(**{**values, "allowed_regions": tuple(self.allowed_regions.data or ())})
