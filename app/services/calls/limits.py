"""The earliest time at which the organization's calling hours and limits allow a call.

Every limit has its own sentence for why a call waits.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from app.calendar_months import midnight
from app.enums import CallSource, CallStatus, EndedReason
from app.errors import Sentence, translate_stored
from app.languages.numbers import localize_number
from app.models import Assistant, Call, CallAttempt, Organization, Outreach
from app.phone import EVERY_DAY, comparable_end, within_calling_hours
from app.services.calls.states import takes_slot

_NEVER_RANG = (EndedReason.CARRIER_ERROR, EndedReason.REJECTED, EndedReason.NUMBER_INVALID)

# In English: calls store them, and `translate_stored` translates them where they are shown.
OUTSIDE_HOURS = str(Sentence.gettext("It is outside calling hours in the person's time zone."))
PLAN_USED_UP = str(Sentence.gettext("The daily call limit of the organization's plan is reached."))
CARRIER_PACE = str(Sentence.gettext("Other calls go to the carrier first."))
DAY_USED_UP = str(Sentence.gettext("The organization's daily call limit is reached."))

_ALL_SLOTS_TAKEN = Sentence.ngettext(
    "The organization's limit of %(num)s concurrent call is reached.",
    "The organization's limit of %(num)s concurrent calls is reached.",
)
_WAITED_FOR = Sentence.gettext("Last reason for waiting: %(reason_words)s")
_WAITS_ONE = Sentence.gettext("The organization waits 1 minute between calls to one number.")
_WAITS = Sentence.gettext("The organization waits %(minutes)s minutes between calls to one number.")
_ONCE_A_DAY = Sentence.gettext("The organization calls one number at most once in a day.")
_TIMES_A_DAY = Sentence.gettext(
    "The organization calls one number at most %(times)s times in a day."
)
_ONCE = Sentence.gettext("The organization calls one number at most once in %(days)s days.")
_TIMES = Sentence.gettext(
    "The organization calls one number at most %(times)s times in %(days)s days."
)


@dataclass(frozen=True, slots=True)
class LimitWait:
    """Until when a call waits, and why: the sentence of the limit that waits longest."""

    until: datetime
    reason: str


class LimitSource(StrEnum):
    """The setter of a limit."""

    OWN = "own"
    PLAN = "plan"
    INSTALLATION = "installation"


@dataclass(frozen=True, slots=True)
class AppliedLimit:
    """The limit that applies, and its setter."""

    value: int
    source: LimitSource


def find_wait(
    session: Session,
    phone_number: str,
    organization: Organization,
    now: datetime,
    *,
    live: bool,
    plan: Outreach | None = None,
) -> LimitWait | None:
    """Return when the organization's hours and limits, and the hours of the plan of a campaign's
    call, next allow the call; None if they do now."""
    wait: LimitWait | None = None
    if live:
        waits = list(_limit_waits(session, phone_number, organization, now))
        wait = max(waits, key=lambda each: each.until, default=None)
    if organization.calling_hours_on or plan is not None:
        earliest = wait.until if wait is not None else now
        opens = next_opening(phone_number, organization, earliest, plan)
        if opens is not None and opens > earliest:
            wait = LimitWait(opens, translate_stored(OUTSIDE_HOURS))
    return wait


def next_opening(
    phone_number: str, organization: Organization, at: datetime, plan: Outreach | None = None
) -> datetime | None:
    """Return the first time within the organization's hours from ``at`` on, or within those of the
    plan, and of the organization if it has any; None if no hour fits."""
    hours = [(plan.hours_start, plan.hours_end)] if plan else []
    if organization.calling_hours_on or plan is None:
        hours.append((organization.calling_hours_start, organization.calling_hours_end))
    start, end = max(start for start, _ in hours), min(comparable_end(end) for _, end in hours)
    if start >= end:
        return None
    weekdays = frozenset(map(int, plan.weekdays)) if plan else EVERY_DAY
    return within_calling_hours(phone_number, start, end, at, weekdays)[1]


def plan_of(session: Session, call: Call) -> Outreach | None:
    """Return the plan of a campaign's call: its hours and its last day hold for each attempt."""
    if call.source is not CallSource.CAMPAIGN or call.campaign_id is None:
        return None
    return session.get(Outreach, call.campaign_id, populate_existing=True)


def is_plan_over(plan: Outreach, assistant: Assistant, at: datetime) -> bool:
    """Return whether the plan's last day, in the assistant's time zone, is over by then."""
    zone = ZoneInfo(assistant.timezone or "UTC")
    return plan.ends_on is not None and at.astimezone(zone).date() > plan.ends_on


def day_used_up(session: Session, organization: Organization, now: datetime) -> LimitWait | None:
    """Return the wait until the next day (UTC) if the organization has made all its calls of this
    day."""
    limit = day_of(organization)
    if limit is None or not _has_made(session, organization, now, limit.value):
        return None
    why = DAY_USED_UP if limit.source is LimitSource.OWN else PLAN_USED_UP
    return LimitWait(midnight(now.date()) + timedelta(days=1), translate_stored(why))


def made_today(session: Session, organization: Organization, now: datetime) -> int:
    """Return how many attempts at live calls the organization made on this day (UTC)."""
    return session.scalar(_made_today(organization, now)) or 0


def use_counts(organization: Organization, now: datetime) -> tuple[Select[int], Select[int]]:
    """Return the queries of `count_under_way` and `made_today`."""
    return under_way(organization.id, live=True), _made_today(organization, now)


def _has_made(session: Session, organization: Organization, now: datetime, limit: int) -> bool:
    """Return whether the organization made ``limit`` attempts at live calls on this day (UTC).

    While the index has fewer attempts, no call is read: the organization is locked meanwhile.
    """
    attempts = _attempts_today(organization, now)
    for query in (attempts, _live(attempts)):
        counted = select(func.count()).select_from(query.limit(limit).subquery())
        if (session.scalar(counted) or 0) < limit:
            return False
    return True


def _made_today(organization: Organization, now: datetime) -> Select[int]:
    return _live(_attempts_today(organization, now)).with_only_columns(func.count())


def _attempts_today(organization: Organization, now: datetime) -> Select[datetime]:
    return select(CallAttempt.started_at).where(
        CallAttempt.organization_id == organization.id,
        CallAttempt.started_at >= midnight(now.date()),
    )


def _live(attempts: Select[datetime]) -> Select[datetime]:
    """Return the attempts at live calls, without those that the carrier hasn't placed."""
    return attempts.join(Call, Call.id == CallAttempt.call_id).where(
        Call.live.is_(True), CallAttempt.carrier_retry_at.is_(None)
    )


def day_of(organization: Organization) -> AppliedLimit | None:
    """Return the organization's calls per day: the lower of its own limit and its plan's."""
    plan = organization.plan_limit
    return _lowest_limit(
        (organization.max_calls_a_day, LimitSource.OWN),
        (plan.max_calls_a_day if plan else None, LimitSource.PLAN),
    )


def _lowest_limit(*limits: tuple[int | None, LimitSource]) -> AppliedLimit | None:
    """The lowest limit; of equal ones the first."""
    limits_set = (AppliedLimit(value, source) for value, source in limits if value is not None)
    return min(limits_set, key=lambda limit: limit.value, default=None)


def all_slots_taken(limit: int) -> str:
    """Why a call waits while ``limit`` calls of the organization are active."""
    return _ALL_SLOTS_TAKEN(num=limit)


def count_under_way(session: Session, organization_id: UUID) -> int:
    """Return how many live calls of the organization are active, except those of a silent
    carrier."""
    return session.scalar(under_way(organization_id, live=True)) or 0


def under_way(organization_id: UUID, *, live: bool) -> Select[int]:
    """Return the query that counts active live calls, or active calls of test keys. Neither kind
    takes places of the other."""
    return select(func.count(Call.id)).where(
        Call.organization_id == organization_id, Call.live.is_(live), takes_slot()
    )


def no_free_slot(
    session: Session, organization: Organization, limit: int | None, *, live: bool
) -> str | None:
    """Return why another call has to wait: active and queued calls of its kind (see `under_way`)
    use all of the organization's calls at once. ``limit`` is the installation's limit; without it
    the result is None."""
    if limit is None:
        return None
    slots = calls_at_once(organization, limit)
    before = (
        select(Call.id)
        .where(
            Call.organization_id == organization.id,
            Call.live.is_(live),
            takes_slot() | (Call.status == CallStatus.QUEUED),
        )
        .limit(slots)
        .subquery()
    )
    used = session.scalar(select(func.count()).select_from(before)) or 0
    return all_slots_taken(slots) if used >= slots else None


def waited_for(why: str | None) -> str | None:
    """Return why a call expired, from the reason of its last wait."""
    return _WAITED_FOR(reason_words=why) if why else None


def at_once_of(organization: Organization, limit: int) -> AppliedLimit:
    """Return the organization's calls at once: the lowest of its own limit, its plan's and
    ``limit``, the installation's."""
    plan = organization.plan_limit
    lowest = _lowest_limit(
        (organization.max_calls_at_once, LimitSource.OWN),
        (plan.max_calls_at_once if plan else None, LimitSource.PLAN),
        (limit, LimitSource.INSTALLATION),
    )
    return lowest or AppliedLimit(limit, LimitSource.INSTALLATION)


def calls_at_once(organization: Organization, limit: int) -> int:
    """`at_once_of` as a number."""
    return at_once_of(organization, limit).value


def _limit_waits(
    session: Session, phone_number: str, organization: Organization, now: datetime
) -> Iterator[LimitWait]:
    """Yield the limits of live calls that make this one wait."""
    waits = (
        day_used_up(session, organization, now),
        _spacing_wait(session, phone_number, organization),
        _frequency_wait(session, phone_number, organization),
    )
    yield from (wait for wait in waits if wait is not None and wait.until > now)


def _spacing_wait(
    session: Session, phone_number: str, organization: Organization
) -> LimitWait | None:
    """Return the wait until the organization's minimum time between two calls to one number has
    passed."""
    minutes = organization.number_spacing_minutes
    if minutes is None:
        return None
    ring_times = _ring_times(session, phone_number, organization, 1)
    why = _WAITS_ONE() if minutes == 1 else _WAITS(minutes=localize_number(minutes))
    return LimitWait(ring_times[0] + timedelta(minutes=minutes), why) if ring_times else None


def _frequency_wait(
    session: Session, phone_number: str, organization: Organization
) -> LimitWait | None:
    """Return the wait until the number may be called again by the limit of calls in a number of
    days."""
    max_calls, days = organization.number_most_calls, organization.number_most_days
    if max_calls is None or days is None:
        return None
    ring_times = _ring_times(session, phone_number, organization, max_calls)
    if days == 1:
        why = _ONCE_A_DAY() if max_calls == 1 else _TIMES_A_DAY(times=max_calls)
    else:
        why = _ONCE(days=days) if max_calls == 1 else _TIMES(times=max_calls, days=days)
    return (
        LimitWait(ring_times[-1] + timedelta(days=days), why)
        if len(ring_times) == max_calls
        else None
    )


def _ring_times(
    session: Session, phone_number: str, organization: Organization, limit: int
) -> list[datetime]:
    """Return when live calls to the number rang, latest first."""
    has_rung = CallAttempt.ended_reason.is_(None) | CallAttempt.ended_reason.not_in(_NEVER_RANG)
    query = (
        select(CallAttempt.started_at)
        .join(Call, Call.id == CallAttempt.call_id)
        .where(
            Call.organization_id == organization.id,
            Call.phone_number == phone_number,
            Call.live.is_(True),
            CallAttempt.carrier_retry_at.is_(None),
            has_rung,
        )
        .order_by(CallAttempt.started_at.desc())
        .limit(limit)
    )
    return list(session.scalars(query))
