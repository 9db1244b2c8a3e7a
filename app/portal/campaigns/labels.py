"""What is said of a campaign's outreach: its hours, its reasons, what a start would do."""

from datetime import time
from typing import Any

from flask import url_for

from app.enums import CampaignStatus
from app.extensions import caller
from app.models import Agent, Campaign, Outreach
from app.portal.campaigns.plan_forms import DAYS
from app.portal.web.formats import moment, number, plural
from app.portal.web.navigation import may_open
from app.portal.web.user_timezone import zone
from app.services.outreach import CampaignBlocker, Forecast, Progress, blockers
from app.services.outreach.plans import WORKDAYS, weekdays_of

LEFT_OUT_WORDS = {
    "no_phone": "No phone number",
    "contact_ended": "The status ends outreach",
    "do_not_contact": "Asked not to be called",
    "consent_missing": "No consent to be called",
    "invalid_phone": "The number lacks its area code",
    "number_not_allowed": "The number may not be called",
    "no_hour": "No hour of the plan suits the number",
}
OTHER_REASON = "Refused by a rule for calls"
WAITING_WORDS = {
    "hours": "wait for an hour of the plan where they are",
    "limits": "wait because of the organization’s limits",
}
_MENDED = {
    "organization_suspended": ("portal.organization", "Show the organization"),
    "agent_inactive": ("portal.assistant", "Show the assistant"),
    "agent_phone_not_ready": ("portal.assistant", "Show the assistant"),
    "agent_left": ("portal.campaign_plan", "Choose another assistant"),
    blockers.DAY_USED_UP: ("portal.organization_settings", "Show its limits"),
    blockers.PAUSED: ("portal.line_health", "Show the line"),
}
"""Endpoint and button of the page that fixes each blocker."""


def reason_words(code: str) -> str:
    return LEFT_OUT_WORDS.get(code, OTHER_REASON)


def days_words(days: frozenset[int]) -> str:
    """Monday to Friday; every day; Monday, Thursday"""
    if len(days) == len(DAYS):
        return "every day"
    if days == WORKDAYS:
        return "Monday to Friday"
    return ", ".join(DAYS[day - 1] for day in sorted(days))


def hours_words(plan: Outreach) -> str:
    days = days_words(weekdays_of(plan))
    end = "24:00" if plan.hours_end == time.min else f"{plan.hours_end:%H:%M}"
    return f"{plan.hours_start:%H:%M} to {end}, {days}, where each person is"


def plan_facts(plan: Outreach, agent: Agent) -> list[tuple[str, str | None]]:
    """The plan as labels and values."""
    words = "The assistant’s default texts"
    if plan.intro_message:
        words = "Exact intro and voicemail"
    elif plan.call_instructions:
        words = "By instructions"
    return [
        ("Assistant", agent.name),
        ("Hours", hours_words(plan)),
        ("Calls an hour", number(plan.calls_per_hour) if plan.calls_per_hour else "No limit"),
        (
            "Calls at once",
            number(plan.calls_at_once) if plan.calls_at_once else "As the organization has",
        ),
        ("What is said", words),
    ]


def consequences(forecast: Forecast, plan: Outreach, held: CampaignBlocker | None) -> list[str]:
    """What follows from starting now, in numbers."""
    lines = [f"{plural(forecast.called, 'contact')} will be called: {hours_words(plan)}."]
    if held is not None:
        lines.append(f"Nobody is called before this is over: {held.sentence}")
    if forecast.before:
        lines.append(f"{plural(forecast.before, 'contact')} of this round were called before.")
    lines += [
        f"{number(count)} will not be called: {reason_words(code).lower()}."
        for code, count in sorted(forecast.left_out.items())
    ]
    if not forecast.is_exact:
        lines.append("Numbers that may not be called are left out when their turn comes.")
    lines.append("Contacts that are added later are called too, until you pause the campaign.")
    return lines


def left_out_lines(campaign: Campaign, progress: Progress) -> list[tuple[str, int, str]]:
    """(reason, how many, where they are listed), most first."""
    return [
        (
            reason_words(code),
            count,
            url_for("portal.campaign_left_out", campaign_id=campaign.id, reason=code),
        )
        for code, count in sorted(progress.left_out.items(), key=lambda item: -item[1])
    ]


def blocker_words(
    campaign: Campaign, plan: Outreach, held: CampaignBlocker | None
) -> dict[str, str | None] | None:
    """Why nobody is called, and where that is mended by those who may; None where nothing is in
    the way."""
    if held is None or campaign.status is CampaignStatus.ARCHIVED:
        return None
    runs = campaign.status is CampaignStatus.ACTIVE
    endpoint, act = _MENDED[held.code]
    ids: dict[str, Any] = {
        "portal.assistant": {"agent_id": plan.agent_id},
        "portal.campaign_plan": {"campaign_id": campaign.id},
        "portal.line_health": {},
    }.get(endpoint, {"organization_id": campaign.organization_id})
    until = f" Until {moment(held.until, zone())}." if held.until else ""
    return {
        "title": "Nobody is called at this moment" if runs else "Nobody would be called",
        "text": f"{held.sentence}{until}",
        "url": url_for(endpoint, **ids) if may_open(caller(), endpoint) else None,
        "act": act,
    }


def status_words(campaign: Campaign, plan: Outreach | None, progress: Progress) -> list[str]:
    """Where the outreach stands at this moment, and when it will be over."""
    if plan is None or plan.started_at is None:
        return ["Nobody has been called yet. Nobody is called until somebody starts the campaign."]
    if campaign.status is CampaignStatus.ARCHIVED:
        return ["The campaign is archived: nobody is called any more."]
    if campaign.status is CampaignStatus.PAUSED:
        return ["Paused: nobody is called until somebody resumes the campaign."]
    if progress.is_over:
        return ["Everybody who can be called has been. Contacts that are added are called too."]
    said = []
    for code, count in progress.waiting.items():
        said.append(f"{number(count)} {WAITING_WORDS.get(code, 'wait')}.")
    if progress.next_due is not None:
        said.append(f"The first of them may be called {moment(progress.next_due, zone())}.")
    return said + _end_words(progress)


def _end_words(progress: Progress) -> list[str]:
    if progress.open == 0:
        return ["The last calls are on their way."]
    if progress.pace is None:
        return ["When it will end is told after the first calls."]
    pace = f"At the present pace of {plural(round(progress.pace), 'call')} an hour"
    if progress.ends_at is None:
        return [f"{pace} it takes longer than a year."]
    return [f"{pace} everybody has been called by {moment(progress.ends_at, zone())}."]
