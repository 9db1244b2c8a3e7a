"""When the calls of a campaign begin and end by its plan's hours, and how long they take."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import partial
from heapq import merge
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, aliased

from app.models import Assistant, Campaign, Contact, ConversationDay, Organization, Outreach
from app.phone import timezones_of
from app.services.calls import limits
from app.services.outreach.eligibility import hours_of
from app.services.outreach.plans import CampaignPlan, weekdays_of

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MAX_AHEAD = timedelta(days=366)
_LAST_START = datetime(9999, 12, 30, tzinfo=UTC) - MAX_AHEAD
"""The start of the last year of the calendar: later times can't be computed."""
USUAL_CALL = timedelta(minutes=1)
"""Assumed duration of a call while an organization has no `AverageCall`."""
AVERAGED_DAYS = (30, 90)
MIN_CONVERSATIONS = 20
ZONE_DIGITS = 5
"""Digits of a number's beginning that decide its time zones: +1202."""
AFTER_DIGITS = "z"
PREFIXES_READ = 500
"""Maximum prefixes whose contacts' hours are read; the first ones represent the others."""
OpenTimes = Callable[[], Iterator[tuple[datetime, datetime]]]
"""The hours from now on in which the contacts of some time zones may be called."""


@dataclass(frozen=True, slots=True)
class AverageCall:
    """The average duration of an organization's answered calls in its latest ``days``."""

    duration: timedelta
    days: int


@dataclass(frozen=True, slots=True)
class RoundEstimate:
    """``at_once`` is the maximum of calls at once, ``duration`` the time within the plan's hours if
    each call takes the ``average``, or `USUAL_CALL` without one; the plan's calls an hour are its
    ``planned_pace`` if they take longer. The times are None if the plan's days don't allow them, or
    not within a year."""

    at_once: int
    duration: timedelta
    starts_at: datetime | None
    ends_at: datetime | None
    average: AverageCall | None
    planned_pace: int | None = None


def estimate(
    session: Session,
    plan: CampaignPlan | Outreach,
    campaign: Campaign,
    organization: Organization,
    contacts: int,
    now: datetime,
    max_at_once: int,
) -> RoundEstimate:
    """Estimate the calls to this many of the campaign's contacts if it starts now;
    ``max_at_once`` is the installation's limit of an organization."""
    organization_limit = limits.calls_at_once(organization, max_at_once)
    at_once = min(organization_limit, plan.calls_at_once or organization_limit)
    average = _average_call(session, organization, now)
    pace = at_once * (HOUR / (average.duration if average else USUAL_CALL))
    planned = plan.calls_per_hour if plan.calls_per_hour and plan.calls_per_hour < pace else None
    pace = planned or pace
    open_times = _open_times(session, plan, campaign, organization, now)
    openings = [first[0] for times in open_times if (first := next(times(), None))]
    ends_at = _end_in(open_times, contacts, pace)
    return RoundEstimate(
        at_once,
        HOUR * (contacts / pace),
        min(openings, default=None),
        max([ends_at, *openings]) if ends_at else None,
        average,
        planned,
    )


def _average_call(
    session: Session, organization: Organization, now: datetime
) -> AverageCall | None:
    """Return the average over the fewest `AVERAGED_DAYS` with `MIN_CONVERSATIONS`."""
    before = {days: (now - timedelta(days=days)).date() for days in AVERAGED_DAYS}
    rows = session.execute(
        select(ConversationDay.day, ConversationDay.conversations, ConversationDay.seconds).where(
            ConversationDay.organization_id == organization.id,
            ConversationDay.day > min(before.values()),
        )
    ).all()
    for days, day_before in before.items():
        latest = [row for row in rows if row.day > day_before]
        count = sum(row.conversations for row in latest)
        seconds = sum(row.seconds for row in latest)
        if seconds and count >= MIN_CONVERSATIONS:
            return AverageCall(timedelta(seconds=round(seconds / count)), days)
    return None


def _one_of_each_prefix(campaign_id: UUID) -> Select[str]:
    """Select the campaign's first number of each prefix. Each is one step in the index, however
    many contacts there are."""
    contact, next_contact = aliased(Contact), aliased(Contact)
    smallest = select(func.min(contact.phone).label("phone"))
    prefixes = smallest.where(contact.campaign_id == campaign_id).cte("prefixes", recursive=True)
    prefix_end = func.substr(prefixes.c.phone, 1, ZONE_DIGITS).concat(AFTER_DIGITS)
    next_phone = (
        select(func.min(next_contact.phone))
        .where(next_contact.campaign_id == campaign_id, next_contact.phone > prefix_end)
        .scalar_subquery()
    )
    prefixes = prefixes.union_all(select(next_phone).where(prefixes.c.phone.is_not(None)))
    return select(prefixes.c.phone).where(prefixes.c.phone.is_not(None)).limit(PREFIXES_READ)


def opens_at(
    session: Session,
    plan: CampaignPlan | Outreach,
    campaign: Campaign,
    organization: Organization,
    now: datetime,
) -> datetime | None:
    """Return when the plan's hours allow the next call to a contact of the campaign; None after its
    last day."""
    open_times = _open_times(session, plan, campaign, organization, now)
    return min((first[0] for times in open_times if (first := next(times(), None))), default=None)


def end_of(
    session: Session,
    plan: CampaignPlan | Outreach,
    campaign: Campaign,
    organization: Organization,
    remaining: int,
    pace: float,
    now: datetime,
) -> datetime | None:
    """Return when ``remaining`` contacts are called at ``pace`` calls an hour; None for more than a
    year ahead."""
    return _end_in(_open_times(session, plan, campaign, organization, now), remaining, pace)


def _end_in(open_times: Sequence[OpenTimes], remaining: int, pace: float) -> datetime | None:
    if remaining / pace >= MAX_AHEAD / HOUR:
        return None
    needed, reached = HOUR * (remaining / pace), datetime.min.replace(tzinfo=UTC)
    for begins, closes in merge(*(times() for times in open_times)):
        since = max(begins, reached)
        if closes - since >= needed:
            return since + needed
        needed -= max(closes - since, timedelta())
        reached = max(closes, reached)
    return None


def _open_times(
    session: Session,
    plan: CampaignPlan | Outreach,
    campaign: Campaign,
    organization: Organization,
    now: datetime,
) -> list[OpenTimes]:
    """Return the open times of the contacts of each time zone; without contacts, those of the
    assistant."""
    assistant_zone = zone_of(session, plan)
    phones = session.scalars(_one_of_each_prefix(campaign.id)).all()
    zone_sets = {frozenset(map(ZoneInfo, timezones_of(phone))) for phone in phones if phone}
    since = now
    if plan.starts_on and plan.starts_on >= now.date():
        since = max(now, _midnight(plan.starts_on, assistant_zone))
    until = min(since, _LAST_START) + MAX_AHEAD
    if plan.ends_on and plan.ends_on < until.date():
        until = _midnight(plan.ends_on + DAY, assistant_zone)
    hours, weekdays = hours_of(plan, organization), weekdays_of(plan)
    return [
        partial(_hours_in, zones, hours, weekdays, since, until)
        for zones in zone_sets or {frozenset([assistant_zone])}
        if zones
    ]


def _hours_in(
    zones: Collection[ZoneInfo],
    hours: tuple[time, time],
    weekdays: Collection[int],
    since: datetime,
    until: datetime,
) -> Iterator[tuple[datetime, datetime]]:
    """Yield the hours that all these time zones share on each of the weekdays."""
    day = min(since.astimezone(zone).date() for zone in zones)
    while _midnight(day, UTC) < until + DAY:
        begins = max(datetime.combine(day, hours[0], zone).astimezone(UTC) for zone in zones)
        closes = min(datetime.combine(day, hours[1], zone).astimezone(UTC) for zone in zones)
        begins, closes = max(begins, since), min(closes, until)
        if begins < closes and day.isoweekday() in weekdays:
            yield begins, closes
        day += DAY


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)


def zone_of(session: Session, plan: CampaignPlan | Outreach) -> ZoneInfo:
    """Return the time zone of the assistant, in which the plan's days begin."""
    assistant = session.get(Assistant, plan.assistant_id) if plan.assistant_id else None
    return ZoneInfo((assistant and assistant.timezone) or "UTC")
