"""The campaign's part in changes of contacts: external-id keys, the lock, and counting changes."""

from collections import defaultdict
from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value

from app.database import read_once
from app.models import Campaign, CampaignAssistant, ExternalIdKey
from app.services.campaigns.loading import not_found


def external_id_keys(session: Session, campaign: Campaign) -> dict[str, bool]:
    """Return the keys that any of the campaign's assistants defines, and whether each
    identifies. A read-only transaction reads them once."""
    keys = read_once(
        session, (ExternalIdKey, campaign.id), lambda: external_id_keys_of(session, [campaign])
    )
    return keys[campaign.id]


def external_id_keys_of(
    session: Session, campaigns: Iterable[Campaign]
) -> dict[UUID, dict[str, bool]]:
    """The same for several campaigns, in one query."""
    keys_of_campaigns: dict[UUID, dict[str, bool]] = defaultdict(dict)
    query = (
        select(Campaign.id, ExternalIdKey.key, ExternalIdKey.identifies)
        .join(ExternalIdKey, ExternalIdKey.organization_id == Campaign.organization_id)
        .outerjoin(
            CampaignAssistant,
            (CampaignAssistant.campaign_id == Campaign.id)
            & (CampaignAssistant.assistant_id == ExternalIdKey.assistant_id),
        )
        .where(Campaign.id.in_([campaign.id for campaign in campaigns]))
        .where(or_(Campaign.all_assistants, CampaignAssistant.assistant_id.is_not(None)))
        .order_by(ExternalIdKey.key)
    )
    for campaign_id, key, identifies in session.execute(query):
        keys = keys_of_campaigns[campaign_id]
        keys[key] = identifies or keys.get(key, False)
    return keys_of_campaigns


def lock(session: Session, campaign: Campaign) -> None:
    """Lock the campaign's contacts until the transaction ends; they are written only under this
    lock.

    On SQLite the writing transaction itself is the lock. Raises `NotFound` if the campaign was
    deleted meanwhile.
    """
    # Not FOR UPDATE, which would block writing calls that refer to the campaign.
    query = select(Campaign.revision, Campaign.contact_count).where(Campaign.id == campaign.id)
    row = session.execute(query.with_for_update(key_share=True)).one_or_none()
    if row is None:
        raise not_found()
    set_committed_value(campaign, "revision", row.revision)
    set_committed_value(campaign, "contact_count", row.contact_count)


def record_revision(session: Session, campaign: Campaign, *, added: int) -> None:
    """Count a change of the contacts of a locked campaign, and store their new number."""
    revision, contact_count = campaign.revision + 1, campaign.contact_count + added
    session.execute(
        update(Campaign)
        .where(Campaign.id == campaign.id)
        .values(revision=revision, contact_count=contact_count, updated_at=Campaign.updated_at)
        .execution_options(synchronize_session=False)
    )
    set_committed_value(campaign, "revision", revision)
    set_committed_value(campaign, "contact_count", contact_count)
