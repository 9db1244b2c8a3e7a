"""The form of a campaign."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from wtforms import RadioField, SelectChoice, StringField

from app.languages import gettext, lazy_gettext
from app.models import Assistant, Campaign
from app.portal.web.fields import CheckboxesField, OnceField, VersionField
from app.portal.web.forms import PortalForm
from app.portal.web.organization_choice import OfOrganization
from app.services.organizations.updating import validate_name

ALL, SOME = "all", "some"
WHO_HINTS = {
    ALL: lazy_gettext("Including ones added later."),
    SOME: lazy_gettext("Only those selected below."),
}


class CampaignForm(PortalForm):
    once = OnceField()
    version = VersionField()
    name = StringField(lazy_gettext("Name"), render_kw={"maxlength": 200, "autocomplete": "off"})
    who = RadioField(
        lazy_gettext("Assistants"),
        choices=[
            SelectChoice(ALL, lazy_gettext("All assistants")),
            SelectChoice(SOME, lazy_gettext("Selected assistants")),
        ],
        default=ALL,
    )
    assistants = CheckboxesField(lazy_gettext("Selected assistants"), choices=[])

    @classmethod
    def showing(cls, campaign: Campaign, assistant_ids: Collection[UUID]) -> "CampaignForm":
        return cls.from_object(
            name=campaign.name,
            who=ALL if campaign.all_assistants else SOME,
            assistants=[str(assistant_id) for assistant_id in assistant_ids],
            version=campaign.version,
        )

    def set_choices(self, assistants: Sequence[Assistant]) -> None:
        self.assistants.choices = [
            SelectChoice(str(assistant.id), assistant.name) for assistant in assistants
        ]

    @property
    def all_assistants(self) -> bool:
        return bool(self.who.data != SOME)

    @property
    def assistant_ids(self) -> list[UUID]:
        """Return the ticked ids; other values are ignored."""
        if self.all_assistants:
            return []
        ids = []
        for text in self.assistants.data or []:
            try:
                ids.append(UUID(text))
            except ValueError:
                ids.append(UUID(int=0))
        return ids


class NewCampaignForm(CampaignForm, OfOrganization):
    """The form of a new campaign, which also names its organization."""

    def to_fields(self) -> dict[str, Any]:
        """Return the input, as the service's arguments."""
        return {
            "name": self.name.data or "",
            "assistant_ids": self.assistant_ids,
            "all_assistants": self.all_assistants,
        }

    def has_no_problems(self) -> bool:
        """Return whether the name is valid by the service's rules, and assistants are chosen, so
        that all problems are shown at once."""
        if not (self.all_assistants or self.assistant_ids):
            self.who.errors = (gettext("Select at least one assistant, or “All assistants”."),)
        return self.passes(lambda: validate_name(self.name.data or "")) and not self.who.errors
