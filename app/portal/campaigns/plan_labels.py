"""A campaign's plan in words: its days and hours, its messages, its limits."""

from app.languages import gettext
from app.languages.dates import format_local_date
from app.models import Assistant, Outreach
from app.portal.campaigns.plan_forms import DAYS
from app.portal.web.formats import hours_end, number
from app.services.outreach import CampaignPlan
from app.services.outreach.plans import weekdays_of

MIN_IN_RANGE = 3
"""Minimum days in a row that are written as a range."""


def days_label(days: frozenset[int]) -> str:
    """Return the weekdays: Monday to Saturday; every day; Monday, Thursday."""
    if len(days) == len(DAYS):
        return gettext("every day")
    first, last = min(days, default=0), max(days, default=0)
    if last - first + 1 == len(days) >= MIN_IN_RANGE:
        return gettext("%(first)s to %(last)s", first=DAYS[first - 1], last=DAYS[last - 1])
    return ", ".join(str(DAYS[day - 1]) for day in sorted(days))


def hours_label(plan: CampaignPlan | Outreach) -> str:
    days = days_label(weekdays_of(plan))
    end = hours_end(plan.hours_end)
    return gettext(
        "%(start)s to %(end)s, %(days)s, local to each person",
        start=f"{plan.hours_start:%H:%M}",
        end=end,
        days=days,
    )


def message_label(plan: CampaignPlan | Outreach) -> str:
    if plan.intro_message:
        return gettext("Exact intro and voicemail")
    if plan.call_instructions:
        return gettext("By instructions")
    return gettext("Default messages")


def days_of(plan: CampaignPlan | Outreach) -> list[tuple[str, str | None]]:
    return [
        (label, format_local_date(day, "yMMMd"))
        for label, day in (
            (gettext("First day"), plan.starts_on),
            (gettext("Last day"), plan.ends_on),
        )
        if day is not None
    ]


def plan_facts(
    plan: CampaignPlan | Outreach, assistant: Assistant | None = None
) -> list[tuple[str, str | None]]:
    return [
        *([(gettext("Assistant"), assistant.name)] if assistant else []),
        (gettext("Hours"), hours_label(plan)),
        *days_of(plan),
        (
            gettext("Calls an hour"),
            number(plan.calls_per_hour) if plan.calls_per_hour else gettext("No limit"),
        ),
        (
            gettext("Concurrent calls"),
            number(plan.calls_at_once)
            if plan.calls_at_once
            else gettext("The organization’s limit"),
        ),
        (gettext("Message"), message_label(plan)),
    ]
