"""What other systems are told of contacts: their ids alone; who they are is asked for by id."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from app.enums import WebhookEvent
from app.models import Campaign
from app.services.webhooks.publishing import publish

AT_ONCE = 500
"""Ids in one event; more contacts make more events."""


def tell(
    session: Session,
    campaign: Campaign,
    *,
    created: Sequence[str | None],
    updated: Sequence[str | None],
    deleted: Sequence[str | None],
) -> None:
    """Written with the change that it tells of. Contacts without an id were never stored."""
    for event, ids in (
        (WebhookEvent.CONTACT_CREATED, created),
        (WebhookEvent.CONTACT_UPDATED, updated),
        (WebhookEvent.CONTACT_DELETED, deleted),
    ):
        stored = [contact_id for contact_id in ids if contact_id is not None]
        for first in range(0, len(stored), AT_ONCE):
            some = stored[first : first + AT_ONCE]
            publish(
                session,
                campaign.organization_id,
                event,
                lambda some=some: {  # type: ignore[misc]  # the default binds this round's ids
                    "organizationId": campaign.organization_id,
                    "campaignId": campaign.id,
                    "contactIds": some,
                },
            )
