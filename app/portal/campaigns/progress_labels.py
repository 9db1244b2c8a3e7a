"""The progress of an outreach in words: what happens next, how long it takes, its results."""

from datetime import datetime, timedelta
from math import ceil
from zoneinfo import ZoneInfo

from app.enums import AnsweredBy, CampaignStatus
from app.languages import gettext, ngettext
from app.languages.dates import NO_BREAK, zone_abbreviation
from app.models import AuditEntry, Campaign, Outreach, utcnow
from app.portal.audit.actors import UserNames
from app.portal.audit.labels import actor_label
from app.portal.web.formats import (
    clock,
    duration,
    long_datetime,
    number,
    percent,
    short_datetime_in_zone,
)
from app.portal.web.user_timezone import zone
from app.services.money_format import exact_money
from app.services.outreach import FinishedRound, RoundEstimate, RoundProgress

_SLACK = timedelta(minutes=2)
"""Times nearer than this count as now."""
_STEP = timedelta(seconds=10)
"""Seconds are rounded to this, so that the words change less often than the page reloads."""
_MAX_MINUTES = 100
"""Minutes from which hours are written."""


def duration_label(estimate: RoundEstimate) -> str:
    """Return the label of `duration_message`: when calling ends, or how long it takes."""
    return gettext("End") if _ends_another_day(estimate) else gettext("Duration")


def duration_message(estimate: RoundEstimate) -> str | None:
    """Return "About 20 minutes if each call takes a minute"; with the end if it is beyond the hours
    of today."""
    if not estimate.duration:
        return None
    if estimate.ends_at is None:
        return gettext("Not all can be called by the last day.")
    if _ends_another_day(estimate):
        return _ends_message(estimate, _format_soon(estimate.ends_at))
    duration_text = rough_duration(estimate.duration)
    if estimate.planned_pace:
        pace = number(estimate.planned_pace)
        return gettext(
            "Takes about %(duration)s at %(number)s calls an hour.",
            duration=duration_text,
            number=pace,
        )
    if estimate.average is None:
        return gettext(
            "Takes about %(duration)s if each call takes a minute.", duration=duration_text
        )
    return gettext(
        "Takes about %(duration)s if each call takes %(time)s, the average of the last "
        "%(days)s days.",
        duration=duration_text,
        time=duration(estimate.average.duration.seconds),
        days=estimate.average.days,
    )


def _ends_another_day(estimate: RoundEstimate) -> bool:
    """Return whether calling can't end by the last day, or waits for the hours of another day."""
    if estimate.ends_at is None:
        return True
    return estimate.ends_at - utcnow() > estimate.duration + _SLACK


def _ends_message(estimate: RoundEstimate, end: str) -> str:
    if estimate.planned_pace:
        pace = number(estimate.planned_pace)
        return gettext(
            "Ends about %(moment)s at %(number)s calls an hour.", moment=end, number=pace
        )
    if estimate.average is None:
        return gettext("Ends about %(moment)s if each call takes a minute.", moment=end)
    return gettext(
        "Ends about %(moment)s if each call takes %(time)s, the average of the last %(days)s days.",
        moment=end,
        time=duration(estimate.average.duration.seconds),
        days=estimate.average.days,
    )


def rough_duration(delta: timedelta) -> str:
    """Return a duration: 3 minutes; 2 hours."""
    minutes = max(1, round(delta / timedelta(minutes=1)))
    if minutes < _MAX_MINUTES:
        return ngettext("%(num)s minute", "%(num)s minutes", minutes)
    return ngettext("%(num)s hour", "%(num)s hours", round(minutes / 60))


def first_call_message(estimate: RoundEstimate) -> str:
    if estimate.starts_at is None:
        return gettext("Never: the last day is over")
    if estimate.starts_at - utcnow() < _SLACK:
        return gettext("Right after the start")
    return gettext("%(moment)s at the earliest", moment=_format_soon(estimate.starts_at))


def ahead_message(progress: RoundProgress) -> str:
    """Return how many contacts are being called and are yet to be called."""
    labels = []
    if progress.in_progress:
        labels.append(gettext("%(number)s in progress", number=number(progress.in_progress)))
    if progress.open:
        labels.append(gettext("%(number)s left", number=number(progress.open)))
    return ", ".join(labels)


def finished_facts(
    progress: RoundProgress, finished_round: FinishedRound, *, shows_cost: bool
) -> list[tuple[str, str | None]]:
    """Return the results of a finished round."""
    started, ended = finished_round.started_at, finished_round.ended_at
    by_human = progress.calls.get(AnsweredBy.HUMAN, 0)
    costs = [exact_money(cost, currency) for currency, cost in sorted(finished_round.costs.items())]
    return [
        (gettext("Started"), long_datetime(started, zone()) if started else None),
        (gettext("Ended"), long_datetime(ended, zone()) if ended else None),
        (gettext("Duration"), rough_duration(ended - started) if started and ended else None),
        (gettext("Reached a person"), percent(by_human, progress.called)),
        *([(gettext("Reported carrier cost"), ", ".join(costs))] if shows_cost and costs else []),
    ]


def paused_message(entry: AuditEntry | None) -> str | None:
    """Return who paused the campaign, and when."""
    if entry is None:
        return None
    name = UserNames([entry]).actor(entry) or actor_label(entry)
    return gettext(
        "Paused by %(name)s, %(moment)s.", name=name, moment=long_datetime(entry.at, zone())
    )


def removed_message(progress: RoundProgress) -> str | None:
    if not progress.removed:
        return None
    return ngettext(
        "%(num)s of them was removed from the campaign after the call.",
        "%(num)s of them were removed from the campaign after the call.",
        progress.removed,
    )


def status_message(
    campaign: Campaign,
    plan: Outreach | None,
    progress: RoundProgress,
    opens_at: datetime | None = None,
) -> str:
    """Return in one line what happens next, and when. ``opens_at`` is when the plan's hours allow
    the next call, if that matters."""
    if plan is None or plan.started_at is None:
        return gettext("No calls yet. Calls begin when you start the campaign.")
    if campaign.status is CampaignStatus.ARCHIVED:
        return gettext("The campaign is archived. It places no more calls.")
    if progress.is_over:
        return _over_message(campaign)
    if campaign.status is CampaignStatus.PAUSED:
        return _pausing_message(progress)
    if progress.open == 0:
        return gettext("The last calls are in progress.")
    return f"{_next_call_message(plan, progress, opens_at)} {_end_message(plan, progress)}"


def _over_message(campaign: Campaign) -> str:
    if not campaign.contact_count:
        return gettext("All contacts were removed. Add contacts to continue.")
    if campaign.status is CampaignStatus.PAUSED:
        return gettext("All callable contacts were called.")
    return gettext(
        "All callable contacts were called. Contacts added later are called too, until you pause "
        "the campaign."
    )


def _pausing_message(progress: RoundProgress) -> str:
    if not progress.in_progress:
        return gettext("Paused. No calls until you resume the campaign.")
    return ngettext(
        "Paused. %(num)s call is ending. No more calls until you resume the campaign.",
        "Paused. %(num)s calls are ending. No more calls until you resume the campaign.",
        progress.in_progress,
    )


def _next_call_message(plan: Outreach, progress: RoundProgress, opens_at: datetime | None) -> str:
    next_at = plan.next_at if progress.to_come else progress.next_due
    if opens_at and opens_at > (next_at or utcnow()):
        next_at = opens_at
    time_until = next_at - utcnow() if next_at else timedelta()
    if next_at is None or time_until < _SLACK:
        if progress.in_progress:
            return gettext("Calling now.")
        if time_until > timedelta():
            steps = ceil(time_until / _STEP)
            return gettext("Next call in about %(seconds)s s.", seconds=steps * _STEP.seconds)
        return gettext("The next call is about to start.")
    return gettext("Next call: %(moment)s.", moment=_format_soon(next_at))


def _end_message(plan: Outreach, progress: RoundProgress) -> str:
    if progress.pace is None:
        return gettext("The end time appears after the first calls.")
    if progress.ends_at is not None:
        remaining = progress.ends_at - utcnow()
        if remaining < timedelta(minutes=_MAX_MINUTES):
            return gettext("About %(duration)s left.", duration=rough_duration(remaining))
        return gettext("Ends about %(moment)s.", moment=_format_soon(progress.ends_at))
    if plan.ends_on is not None:
        return gettext("At this pace some are not called by the last day.")
    return gettext("At this pace it takes longer than a year.")


def _format_soon(value: datetime) -> str:
    """Return a time: 14:05 GMT; on another day 1 Dec, 09:00 GMT."""
    local, now = (moment.astimezone(ZoneInfo(zone())) for moment in (value, utcnow()))
    if local.date() != now.date():
        return short_datetime_in_zone(value, zone())
    return f"{clock(value, zone())}{NO_BREAK}{zone_abbreviation(local)}"


def waiting_message(progress: RoundProgress) -> str | None:
    """Return why contacts wait, other than for their turn."""
    return " ".join(_waiting_message(*each) for each in progress.waiting.items()) or None


def _waiting_message(code: str, count: int) -> str:
    if code == "hours":
        return ngettext(
            "%(num)s waits for the plan’s hours in its time zone.",
            "%(num)s wait for the plan’s hours in their time zone.",
            count,
        )
    if code == "limits":
        return ngettext(
            "%(num)s waits because of the organization’s limits.",
            "%(num)s wait because of the organization’s limits.",
            count,
        )
    return ngettext("%(num)s waits.", "%(num)s wait.", count)
