"""The steps of a new campaign: its name and assistants, its plan, its contacts, the start."""

from flask import request
from sqlalchemy.orm import Session

from app.languages import gettext, pgettext
from app.models import Campaign
from app.services import outreach


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
