"""An organization with a campaign and a plan that allows every hour, and its dispatcher."""

from dataclasses import dataclass
from datetime import datetime, time
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config.calls import CallSettings
from app.enums import CallStatus, ContactAction
from app.models import Call, Campaign, Contact, OutreachContact, utcnow
from app.phone import EVERY_DAY
from app.services import campaigns, contacts, outreach
from app.services.outreach import dispatcher
from tests.fixtures.outreach import OWNER
from tests.fixtures.worker import CallingOrganization, make_calling_organization


@dataclass
class PlannedCampaign:
    """A campaign of an owner, who has made a plan."""

    session: Session
    calling_organization: CallingOrganization
    campaign: Campaign

    def plan(self, **changes: Any) -> None:
        values: dict[str, Any] = {
            "assistant_id": self.calling_organization.assistant_id,
            "weekdays": EVERY_DAY,
            "hours_start": time(0),
            "hours_end": time(0),
            "intro_message": "Hello {firstName|there}.",
            "voicemail_message": "Call us back.",
        }
        plan = outreach.CampaignPlan(**values | changes)
        outreach.change_plan(self.session, OWNER, self.campaign.id, plan, max_at_once=20)

    def add(self, *people: dict[str, Any], action: ContactAction = ContactAction.UPSERT) -> None:
        result = contacts.apply(self.session, self.campaign, list(people), action)
        assert result.errors == []

    def start(self, **more: Any) -> None:
        outreach.start(self.session, OWNER, self.campaign.id, **more)

    def pause(self) -> None:
        outreach.pause(self.session, OWNER, self.campaign.id)

    def feed(self, at: datetime | None = None, *, calls_at_once: int = 5) -> int:
        settings = CallSettings(calls_at_once=calls_at_once)
        return dispatcher.dispatch(self.session, self.campaign.id, settings, at or utcnow())

    def calls(self, *statuses: CallStatus) -> list[Call]:
        query = select(Call).where(Call.campaign_id == self.campaign.id).order_by(Call.id)
        if statuses:
            query = query.where(Call.status.in_(statuses))
        return list(self.session.scalars(query))

    def decided(self) -> dict[str | None, tuple[str, str | None]]:
        """Return the decision about each contact, by its number."""
        query = select(Contact.phone, OutreachContact.status, OutreachContact.reason).join(
            OutreachContact, OutreachContact.contact_id == Contact.id
        )
        return {phone: (state.value, why) for phone, state, why in self.session.execute(query)}

    def progress(self, now: datetime | None = None) -> outreach.RoundProgress:
        return outreach.progress_of(self.session, self.campaign, now)


@pytest.fixture
def planned_campaign(session: Session) -> PlannedCampaign:
    calling_organization = make_calling_organization(session)
    campaign = campaigns.create(
        session, OWNER, calling_organization.organization_id, name="Spring", all_assistants=True
    )
    made = PlannedCampaign(session, calling_organization, campaign)
    made.plan()
    return made
