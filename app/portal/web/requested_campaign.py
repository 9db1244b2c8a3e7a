"""The campaign of a page and of its lists."""

from uuid import UUID

from sqlalchemy.orm import Session

from app.extensions import caller
from app.models import Campaign
from app.services import campaigns


def requested_campaign(session: Session, campaign_id: UUID) -> Campaign:
    """As `campaigns.get`, read once in a transaction. Raises `NotFound`."""
    opened: dict[UUID, Campaign] = session.info.setdefault("requested_campaigns", {})
    if campaign_id not in opened:
        opened[campaign_id] = campaigns.get(session, caller(), campaign_id)
    return opened[campaign_id]
