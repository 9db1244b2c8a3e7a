"""The form of call destinations, for operators and partners."""

from collections.abc import Collection, Sequence
from typing import Self

from wtforms import BooleanField, SelectMultipleField, TextAreaField

from app.languages import lazy_gettext
from app.portal.web.fields import VersionField, lines_of
from app.portal.web.forms import PortalForm
from app.portal.web.region_choices import named_regions
from app.services.destinations import DestinationChoice, DestinationLimits


class DestinationsForm(PortalForm):
    """Countries, and hosts with one on each line."""

    version = VersionField()
    regions = SelectMultipleField(lazy_gettext("Open countries"))
    hosts = TextAreaField(lazy_gettext("Voice hosts"), render_kw={"spellcheck": "false"})

    def __init__(self, *args: object, **more: object):
        super().__init__(*args, **more)
        self.regions.choices = named_regions()

    @classmethod
    def showing(cls, stored: DestinationLimits | DestinationChoice) -> Self:
        return cls.from_object(
            version=stored.version,
            regions=sorted(stored.regions or ()),
            hosts="\n".join(stored.hosts or ()),
            limited=stored.regions is not None,
        )

    def limit_choices(self, regions: Collection[str]) -> None:
        """Remove the countries that can't be chosen."""
        offered = {*regions, *(self.regions.data or ())}
        self.regions.choices = [choice for choice in named_regions() if choice.value in offered]

    def selected_regions(self) -> frozenset[str]:
        return frozenset(self.regions.data or ())

    @property
    def submitted_hosts(self) -> Sequence[str]:
        return lines_of(self.hosts)

    def to_choice(self) -> DestinationChoice:
        return DestinationChoice(self.selected_regions(), self.submitted_hosts)

    def to_limits(self) -> DestinationLimits:
        """Return the limits; without a host, any is allowed."""
        return DestinationLimits(self.selected_regions(), self.submitted_hosts or None)


class PartnerLimitsForm(DestinationsForm):
    """The operator's limits for one partner, which may be none."""

    limited = BooleanField(lazy_gettext("Limit the countries of this partner"))

    def to_limits(self) -> DestinationLimits:
        regions = self.selected_regions() if self.limited.data else None
        return DestinationLimits(regions, self.submitted_hosts or None)
