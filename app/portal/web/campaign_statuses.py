"""The statuses of campaigns in words, and the steps of creating one."""

from collections.abc import Sequence

from flask import request
from sqlalchemy.orm import Session

from app.enums import CampaignStatus
from app.languages import gettext, lazy_gettext, lazy_pgettext, pgettext
from app.models import Campaign
from app.services import outreach
from app.services.outreach import RoundSummary

STATUS_LABELS = {
    "archived": lazy_pgettext("campaign", "Archived"),
    "finished": lazy_gettext("Finished"),
    "running": lazy_gettext("Running"),
    "paused": lazy_gettext("Paused"),
    "not-started": lazy_gettext("Not started"),
}


def status_of(campaign: Campaign, summary: RoundSummary) -> str:
    """Return a key of `STATUS_LABELS`."""
    if campaign.status is CampaignStatus.ARCHIVED:
        return "archived"
    if summary.ended_at:
        return "finished"
    if campaign.status is CampaignStatus.ACTIVE:
        return "running"
    return "paused" if summary.started_at else "not-started"


def with_statuses(session: Session, campaigns: Sequence[Campaign]) -> list[tuple[Campaign, str]]:
    """Return each of the campaigns with its status, a key of `STATUS_LABELS`."""
    summaries = outreach.summaries_of(session, campaigns)
    return [(each, status_of(each, summaries.get(each.id, RoundSummary()))) for each in campaigns]


def is_new() -> bool:
    """Return whether the page is a step after creating a campaign."""
    return "new" in request.args


def steps_of_new() -> list[tuple[str, None]]:
    """Return the steps of creating a campaign."""
    return [
        (gettext("Name and assistants"), None),
        (pgettext("campaign", "Plan"), None),
        (gettext("Contacts"), None),
        (pgettext("campaign", "Start"), None),
    ]


def steps_of_planned(session: Session, campaign: Campaign) -> list[tuple[str, None]] | None:
    """Return the steps of creating the campaign if it has a plan and never started, else None."""
    plan = outreach.stored_plan(session, campaign)
    return steps_of_new() if plan is not None and plan.started_at is None else None
