"""The states of campaigns in words, as their list and their organization show them."""

from app.enums import CampaignStatus
from app.languages import lazy_gettext
from app.models import Campaign
from app.services.outreach import Summary

STATE_WORDS = {
    "archived": lazy_gettext("Archived"),
    "finished": lazy_gettext("Finished"),
    "running": lazy_gettext("Running"),
    "paused": lazy_gettext("Paused"),
    "not-started": lazy_gettext("Not started"),
}


def state_of(campaign: Campaign, found: Summary) -> str:
    """Return a key of `STATE_WORDS`."""
    if campaign.status is CampaignStatus.ARCHIVED:
        return "archived"
    if found.ended_at:
        return "finished"
    if campaign.status is CampaignStatus.ACTIVE:
        return "running"
    return "paused" if found.started_at else "not-started"
