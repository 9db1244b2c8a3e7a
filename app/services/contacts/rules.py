"""The rules for contacts: a campaign's settings, and the limits that the docs page publishes."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Campaign, Organization
from app.services import campaigns

MAX_NAME = 100
MAX_STATUS = 64
MAX_EXTERNAL_ID_KEY = 100
MAX_EXTERNAL_ID_VALUE = 200


@dataclass(frozen=True, slots=True)
class ContactRules:
    """The settings of a campaign and its organization that concern contacts.

    ``keys`` maps each external-id key to whether its values identify the contact.
    """

    campaign_id: UUID
    organization_id: UUID
    default_region: str
    refuses_do_not_call: bool
    keys: Mapping[str, bool]


def load_rules(session: Session, campaign: Campaign) -> ContactRules:
    region, refuses = session.execute(
        select(Organization.default_region, Organization.refuse_do_not_call).where(
            Organization.id == campaign.organization_id
        )
    ).one()
    return ContactRules(
        campaign_id=campaign.id,
        organization_id=campaign.organization_id,
        default_region=region,
        refuses_do_not_call=refuses,
        keys=campaigns.external_id_keys(session, campaign),
    )
