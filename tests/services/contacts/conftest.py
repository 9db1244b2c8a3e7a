"""A campaign whose assistant defines two external-id keys: ``crmId`` identifies, ``account``
routes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import ContactAction
from app.models import Campaign, Contact, ContactExternalId, Organization
from app.services import contacts
from app.services.contacts import BulkResult
from tests.fixtures.tenants import define_external_ids
from tests.fixtures.worker import CallingOrganization, make_calling_organization


@dataclass
class Outreach:
    """One campaign and requests about it, in one session."""

    session: Session
    calling_organization: CallingOrganization
    campaign: Campaign

    @property
    def organization(self) -> Organization:
        return self.session.get_one(Organization, self.calling_organization.organization_id)

    def apply(
        self, *sent: Any, action: ContactAction = ContactAction.UPSERT, **how: Any
    ) -> BulkResult:
        return contacts.apply(self.session, self.campaign, list(sent), action, **how)

    def stored(self) -> list[dict[str, Any]]:
        """Return the campaign's contacts in the order they were added, without empty fields."""
        self.session.expire_all()
        query = select(Contact).where(Contact.campaign_id == self.campaign.id)
        found = self.session.scalars(query.order_by(Contact.id)).all()
        return [self._shown(contact) for contact in found]

    def _shown(self, contact: Contact) -> dict[str, Any]:
        held = self.session.scalars(
            select(ContactExternalId).where(ContactExternalId.contact_id == contact.id)
        )
        values = {
            "phone": contact.phone,
            "email": contact.email,
            "firstName": contact.first_name,
            "lastName": contact.last_name,
            "status": contact.status,
            "contactMetadata": contact.contact_metadata,
            "externalIds": {each.key: each.value for each in held},
        }
        return {name: value for name, value in values.items() if value}

    def revision(self) -> int:
        self.session.refresh(self.campaign)
        return self.campaign.revision


def make_campaign(session: Session, calling_organization: CallingOrganization) -> Campaign:
    campaign = Campaign(
        partner_id=calling_organization.partner_id,
        organization_id=calling_organization.organization_id,
        name="Spring check-ups",
        all_assistants=True,
    )
    keys = {"crmId": True, "account": False}
    define_external_ids(
        session, calling_organization.assistant_id, calling_organization.organization_id, keys
    )
    session.add(campaign)
    session.flush()
    return campaign


@pytest.fixture
def outreach(session: Session) -> Outreach:
    calling_organization = make_calling_organization(session)
    return Outreach(session, calling_organization, make_campaign(session, calling_organization))


def codes(result: BulkResult) -> list[tuple[int, str, str | None]]:
    return [(error["index"], error["code"], error["field"]) for error in result.errors]


def actions(result: BulkResult) -> Sequence[str]:
    return [success["action"] for success in result.success]
