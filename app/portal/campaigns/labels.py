"""A campaign's outreach in words: its hours, its blockers, the consequences of starting it."""

from datetime import time
from typing import Any

from flask import url_for

from app.enums import CampaignStatus
from app.extensions import caller
from app.models import Assistant, Campaign, Outreach
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
    "trial_mode": "Trial mode: the number isn’t verified",
    "no_hour": "The plan’s hours don’t fit the number",
}
OTHER_REASON = "Refused by a rule for calls"
WAITING_WORDS = {
    "hours": "wait for the plan’s hours in their time zone",
    "limits": "wait because of the organization’s limits",
}
_FIXES = {
    "organization_suspended": ("portal.organization", "View organization"),
    "agent_inactive": ("portal.assistant", "View assistant"),
    "agent_phone_not_ready": ("portal.assistant", "View assistant"),
    "agent_left": ("portal.campaign_plan", "Choose another assistant"),
    blockers.DAY_USED_UP: ("portal.organization_settings", "View limits"),
    blockers.PAUSED: ("portal.line_health", "View carrier"),
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
    return f"{plan.hours_start:%H:%M} to {end}, {days}, local to each person"


def plan_facts(plan: Outreach, assistant: Assistant) -> list[tuple[str, str | None]]:
    words = "Default messages"
    if plan.intro_message:
        words = "Exact intro and voicemail"
    elif plan.call_instructions:
        words = "By instructions"
    return [
        ("Assistant", assistant.name),
        ("Hours", hours_words(plan)),
        ("Calls an hour", number(plan.calls_per_hour) if plan.calls_per_hour else "No limit"),
        (
            "Calls at once",
            number(plan.calls_at_once) if plan.calls_at_once else "The organization’s limit",
        ),
        ("Message", words),
    ]


def consequences(
    forecast: Forecast, plan: Outreach, held: CampaignBlocker | None, at_night: str | None
) -> list[str]:
    """Return the consequences of starting now, in numbers."""
    lines = [f"{plural(forecast.called, 'contact')} will be called: {hours_words(plan)}."]
    if at_night is not None:
        lines.append(at_night)
    if held is not None:
        lines.append(f"No calls until this ends: {held.sentence}")
    if forecast.before:
        lines.append(f"{plural(forecast.before, 'contact')} of this round were already called.")
    lines += [
        f"{number(count)} will not be called: {reason_words(code).lower()}."
        for code, count in sorted(forecast.left_out.items())
    ]
    if not forecast.is_exact:
        lines.append("Numbers that can’t be called are skipped.")
    lines.append("Contacts added later are called too, until you pause the campaign.")
    return lines


def left_out_lines(campaign: Campaign, progress: Progress) -> list[tuple[str, int, str]]:
    """Return (reason, count, URL of the list), most first."""
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
    """Return why calling is held, and the page that fixes it if the user may; None if it is not."""
    if held is None or campaign.status is CampaignStatus.ARCHIVED:
        return None
    runs = campaign.status is CampaignStatus.ACTIVE
    endpoint, act = _FIXES[held.code]
    ids: dict[str, Any] = {
        "portal.assistant": {"assistant_id": plan.assistant_id},
        "portal.campaign_plan": {"campaign_id": campaign.id},
        "portal.line_health": {},
    }.get(endpoint, {"organization_id": campaign.organization_id})
    until = f" Until {moment(held.until, zone())}." if held.until else ""
    return {
        "title": "No calls right now" if runs else "No one would be called",
        "text": f"{held.sentence}{until}",
        "url": url_for(endpoint, **ids) if may_open(caller(), endpoint) else None,
        "act": act,
    }


def status_words(campaign: Campaign, plan: Outreach | None, progress: Progress) -> list[str]:
    """Return the current state of the outreach, and when it will be over."""
    if plan is None or plan.started_at is None:
        return ["No calls yet. Calls begin when you start the campaign."]
    if campaign.status is CampaignStatus.ARCHIVED:
        return ["The campaign is archived. It places no more calls."]
    if campaign.status is CampaignStatus.PAUSED:
        return ["Paused. No calls until you resume the campaign."]
    if progress.is_over:
        return ["All callable contacts were called. New contacts are called too."]
    lines = []
    for code, count in progress.waiting.items():
        lines.append(f"{number(count)} {WAITING_WORDS.get(code, 'wait')}.")
    if progress.next_due is not None:
        lines.append(f"The first can be called {moment(progress.next_due, zone())}.")
    return lines + _end_words(progress)


def _end_words(progress: Progress) -> list[str]:
    if progress.open == 0:
        return ["The last calls are in progress."]
    if progress.pace is None:
        return ["An end time appears after the first calls."]
    pace = f"At the current pace of {plural(round(progress.pace), 'call')} an hour"
    if progress.ends_at is None:
        return [f"{pace} it takes longer than a year."]
    return [f"{pace} all contacts are called by {moment(progress.ends_at, zone())}."]
