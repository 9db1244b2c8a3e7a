"""The form of a campaign."""

from collections.abc import Collection, Sequence
from uuid import UUID

from wtforms import RadioField, SelectChoice, SelectMultipleField, StringField
from wtforms.widgets import CheckboxInput, ListWidget

from app.models import Agent, Campaign
from app.portal.web.fields import OnceField, VersionField
from app.portal.web.forms import PortalForm

ALL, SOME = "all", "some"
WHO_HINTS = {ALL: "Including ones added later.", SOME: "Only those selected below."}


class CampaignForm(PortalForm):
    once = OnceField()
    version = VersionField()
    name = StringField("Name", render_kw={"maxlength": 200, "autocomplete": "off"})
    who = RadioField(
        "Assistants",
        choices=[
            SelectChoice(ALL, "All assistants"),
            SelectChoice(SOME, "Selected assistants"),
        ],
        default=ALL,
    )
    agents = SelectMultipleField(
        "Chosen assistants",
        choices=[],
        validate_choice=False,
        widget=ListWidget(),
        option_widget=CheckboxInput(),
    )

    @classmethod
    def showing(cls, campaign: Campaign, chosen: Collection[UUID]) -> "CampaignForm":
        return cls.from_object(
            data={
                "name": campaign.name,
                "who": ALL if campaign.all_agents else SOME,
                "agents": [str(agent_id) for agent_id in chosen],
                "version": campaign.version,
            }
        )

    def offer(self, agents: Sequence[Agent]) -> None:
        self.agents.choices = [SelectChoice(str(agent.id), agent.name) for agent in agents]

    @property
    def all_agents(self) -> bool:
        return bool(self.who.data != SOME)

    @property
    def chosen(self) -> list[UUID]:
        """The ids that were ticked; what is no id names nobody."""
        if self.all_agents:
            return []
        found = []
        for text in self.agents.data or []:
            try:
                found.append(UUID(text))
            except ValueError:
                found.append(UUID(int=0))
        return found
