"""When a call may be placed at the earliest: the organization's hours and limits.

Every limit says itself why a call waits.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import CallStatus, EndedReason
from app.models import Call, CallAttempt, Organization
from app.phone import within_calling_hours
from app.services.calls.states import ACTIVE

_TAKING_LINES = ACTIVE | {CallStatus.QUEUED}
_NEVER_RANG = (EndedReason.CARRIER_ERROR, EndedReason.REJECTED, EndedReason.NUMBER_INVALID)

OUTSIDE_HOURS = "It is outside the calling hours where the person is."
PLAN_USED_UP = "The organization has made all the calls of a day that its plan allows."
CARRIER_PACE = "The carrier is given so many calls a second, and others are before this one."
DAY_USED_UP = "The organization has made all its calls of this day."


@dataclass(frozen=True, slots=True)
class Wait:
    """Until when a call waits, and why: the limit that keeps it longest, as a sentence."""

    until: datetime
    why: str


class Source(StrEnum):
    """Who has set a limit."""

    OWN = "own"
    PLAN = "plan"
    INSTALLATION = "installation"


@dataclass(frozen=True, slots=True)
class Limit:
    """The limit of several that counts, and whose it is."""

    most: int
    source: Source


def next_moment(
    session: Session, phone_number: str, organization: Organization, now: datetime, *, live: bool
) -> Wait | None:
    """When the organization's hours and limits next allow the call; None for now."""
    wait: Wait | None = None
    if live:
        waits = list(_limits(session, phone_number, organization, now))
        wait = max(waits, key=lambda one: one.until, default=None)
    if organization.calling_hours_on:
        at = wait.until if wait is not None else now
        opens = opening(phone_number, organization, at)
        if opens is not None and opens > at:
            wait = Wait(opens, OUTSIDE_HOURS)
    return wait


def opening(phone_number: str, organization: Organization, at: datetime) -> datetime | None:
    """The first moment of the organization's hours from ``at`` on; None where no hour suits."""
    start, end = organization.calling_hours_start, organization.calling_hours_end
    if start >= end:
        return None
    return within_calling_hours(phone_number, start, end, at)[1]


def day_used_up(session: Session, organization: Organization, now: datetime) -> Wait | None:
    """Until the next day (UTC), where the organization has made all its calls of this one."""
    limit = day_of(organization)
    if limit is None or made_today(session, organization, now) < limit.most:
        return None
    why = DAY_USED_UP if limit.source is Source.OWN else PLAN_USED_UP
    return Wait(_midnight(now) + timedelta(days=1), why)


def made_today(session: Session, organization: Organization, now: datetime) -> int:
    """How many attempts of live calls were made on this day (UTC)."""
    today = (
        select(func.count())
        .select_from(CallAttempt)
        .join(Call, Call.id == CallAttempt.call_id)
        .where(
            CallAttempt.organization_id == organization.id,
            CallAttempt.started_at >= _midnight(now),
            Call.live.is_(True),
        )
    )
    return session.scalar(today) or 0


def _midnight(now: datetime) -> datetime:
    return datetime.combine(now.date(), datetime.min.time(), UTC)


def day_of(organization: Organization) -> Limit | None:
    """How many calls a day the organization has: the lower of its own limit and its plan's."""
    plan = organization.plan_limit
    return _lowest(
        (organization.max_calls_a_day, Source.OWN),
        (plan.max_calls_a_day if plan else None, Source.PLAN),
    )


def _lowest(*limits: tuple[int | None, Source]) -> Limit | None:
    """The one that counts; of equal ones the first."""
    found = (Limit(most, source) for most, source in limits if most is not None)
    return min(found, key=lambda limit: limit.most, default=None)


def no_line_free(lines: int) -> str:
    """Why a call waits while so many are on their way."""
    return (
        "Another call of the organization is on its way, and it has one line."
        if (lines == 1)
        else f"All {lines} lines of the organization are in use."
    )


def lines_taken(session: Session, organization: Organization, most: int | None) -> str | None:
    """Why another call has to wait, where calls that are on their way or before it in the queue
    take every line; ``most`` is the installation's limit, None where nobody asks."""
    if most is None:
        return None
    lines = lines_of(organization, most)
    before = (
        select(Call.id)
        .where(Call.organization_id == organization.id, Call.status.in_(_TAKING_LINES))
        .limit(lines)
        .subquery()
    )
    taken = session.scalar(select(func.count()).select_from(before)) or 0
    return no_line_free(lines) if taken >= lines else None


def waited_for(why: str | None) -> str | None:
    """What is said of a call that could not be placed in time, from why it waited last."""
    return f"What it waited for last: {why}" if why else None


def at_once_of(organization: Organization, most: int) -> Limit:
    """How many calls at once the organization has: the lowest of its own limit, its plan's and
    ``most``, the installation's."""
    plan = organization.plan_limit
    lowest = _lowest(
        (organization.max_calls_at_once, Source.OWN),
        (plan.max_calls_at_once if plan else None, Source.PLAN),
        (most, Source.INSTALLATION),
    )
    return lowest or Limit(most, Source.INSTALLATION)


def lines_of(organization: Organization, most: int) -> int:
    """`at_once_of` as a number."""
    return at_once_of(organization, most).most


def _limits(
    session: Session, phone_number: str, organization: Organization, now: datetime
) -> Iterator[Wait]:
    """Every limit of live calls that lies in the future."""
    waits = (
        day_used_up(session, organization, now),
        _rests(session, phone_number, organization),
        _often_enough(session, phone_number, organization),
    )
    yield from (wait for wait in waits if wait is not None and wait.until > now)


def _rests(session: Session, phone_number: str, organization: Organization) -> Wait | None:
    """Until the number has rested for as long as the organization wants after it rang."""
    minutes = organization.number_spacing_minutes
    if minutes is None:
        return None
    rang = _times_rung(session, phone_number, organization, 1)
    why = f"Between two calls to one number the organization leaves {minutes_words(minutes)}."
    return Wait(rang[0] + timedelta(minutes=minutes), why) if rang else None


def _often_enough(session: Session, phone_number: str, organization: Organization) -> Wait | None:
    """Until the number may ring once more in so many days."""
    most, days = organization.number_most_calls, organization.number_most_days
    if most is None or days is None:
        return None
    rang = _times_rung(session, phone_number, organization, most)
    times = "once" if most == 1 else f"{most} times"
    within = "in a day" if days == 1 else f"in {days} days"
    why = f"The organization calls one number at most {times} {within}."
    return Wait(rang[-1] + timedelta(days=days), why) if len(rang) == most else None


def _times_rung(
    session: Session, phone_number: str, organization: Organization, most: int
) -> list[datetime]:
    """When live calls to the number rang, the latest first."""
    rang = CallAttempt.ended_reason.is_(None) | CallAttempt.ended_reason.not_in(_NEVER_RANG)
    query = (
        select(CallAttempt.started_at)
        .join(Call, Call.id == CallAttempt.call_id)
        .where(
            Call.organization_id == organization.id,
            Call.phone_number == phone_number,
            Call.live.is_(True),
            rang,
        )
        .order_by(CallAttempt.started_at.desc())
        .limit(most)
    )
    return list(session.scalars(query))


def minutes_words(count: int) -> str:
    """90 minutes"""
    return "1 minute" if count == 1 else f"{count:,} minutes"
