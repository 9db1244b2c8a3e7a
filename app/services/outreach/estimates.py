"""When the calls of a campaign begin and end by its plan's hours, and how long they take."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, aliased

from app.models import Assistant, Campaign, Contact, ConversationDay, Organization, Outreach
from app.services.calls import limits
from app.services.outreach.eligibility import hours_of, opening_of
from app.services.outreach.plans import Plan, weekdays_of

HOUR = timedelta(hours=1)
FARTHEST = timedelta(days=366)
USUAL_CALL = timedelta(minutes=1)
"""How long a call is taken to be while an organization has no `Average`."""
AVERAGED_DAYS = (30, 90)
FEWEST_CONVERSATIONS = 20
ZONE_DIGITS = 5
"""Numbers that begin with the same characters are taken to be in the same time zones: +1202."""
AFTER_DIGITS = "z"
PREFIXES_READ = 500
"""Of a campaign with more, the first ones say when its calls begin."""


@dataclass(frozen=True, slots=True)
class Average:
    """How long an answered call of an organization took in its latest ``days``."""

    lasts: timedelta
    days: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """``at_once`` is the most calls at once, ``lasts`` the time within the plan's hours if each
    call takes the ``average``, or `USUAL_CALL` without one. The times are None if the plan's days
    don't allow them, or not within a year."""

    at_once: int
    lasts: timedelta
    begins_at: datetime | None
    ends_at: datetime | None
    average: Average | None


def estimate(
    session: Session,
    plan: Plan | Outreach,
    campaign: Campaign,
    organization: Organization,
    contacts: int,
    now: datetime,
    most_at_once: int,
) -> Estimate:
    """Estimate the calls to this many of the campaign's contacts if it starts now;
    ``most_at_once`` is the installation's limit of an organization."""
    own = limits.calls_at_once(organization, most_at_once)
    at_once = min(own, plan.calls_at_once or own)
    average = _average(session, organization, now)
    pace = at_once * (HOUR / (average.lasts if average else USUAL_CALL))
    if plan.calls_per_hour:
        pace = min(pace, plan.calls_per_hour)
    lasts = HOUR * (contacts / pace)
    begins_at = _begins_at(session, plan, campaign, organization, now)
    ends_at = end_of(session, plan, organization, contacts, pace, now)
    if begins_at and ends_at:
        ends_at = max(ends_at, begins_at + lasts)
    return Estimate(at_once, lasts, begins_at, ends_at, average)


def _average(session: Session, organization: Organization, now: datetime) -> Average | None:
    """Return the average over the fewest `AVERAGED_DAYS` with `FEWEST_CONVERSATIONS`."""
    for days in AVERAGED_DAYS:
        sums = select(func.sum(ConversationDay.conversations), func.sum(ConversationDay.seconds))
        count, seconds = session.execute(
            sums.where(
                ConversationDay.organization_id == organization.id,
                ConversationDay.day > (now - timedelta(days=days)).date(),
            )
        ).one()
        if seconds and count >= FEWEST_CONVERSATIONS:
            return Average(timedelta(seconds=round(seconds / count)), days)
    return None


def _begins_at(
    session: Session,
    plan: Plan | Outreach,
    campaign: Campaign,
    organization: Organization,
    now: datetime,
) -> datetime | None:
    """Return when the first contact may be called where they are; without one, when the hours
    begin in the assistant's time zone."""
    first = next(_windows(session, plan, organization, now), None)
    if first is None:
        return None
    since = now
    if plan.starts_on is not None:
        midnight = datetime.combine(plan.starts_on, time(), _zone(session, plan))
        since = max(now, midnight.astimezone(now.tzinfo))
    openings = [
        opening
        for phone in session.scalars(_one_of_each_prefix(campaign.id))
        if (opening := opening_of(phone, plan, organization, since)[1]) is not None
    ]
    return min(openings, default=first[0])


def _one_of_each_prefix(campaign_id: UUID) -> Select[str]:
    """Select the campaign's first number of each prefix. Each is one step in the index, however
    many contacts there are."""
    contact, next_one = aliased(Contact), aliased(Contact)
    smallest = select(func.min(contact.phone).label("phone"))
    found = smallest.where(contact.campaign_id == campaign_id).cte("found", recursive=True)
    behind = func.substr(found.c.phone, 1, ZONE_DIGITS).concat(AFTER_DIGITS)
    following = (
        select(func.min(next_one.phone))
        .where(next_one.campaign_id == campaign_id, next_one.phone > behind)
        .scalar_subquery()
    )
    found = found.union_all(select(following).where(found.c.phone.is_not(None)))
    return select(found.c.phone).where(found.c.phone.is_not(None)).limit(PREFIXES_READ)


def end_of(
    session: Session,
    plan: Plan | Outreach,
    organization: Organization,
    left: int,
    pace: float,
    now: datetime,
) -> datetime | None:
    """Return when ``left`` contacts are called at ``pace`` calls an hour; None for more than a year
    ahead."""
    if left / pace >= FARTHEST / HOUR:
        return None
    needed = HOUR * (left / pace)
    for begins, closes in _windows(session, plan, organization, now):
        if closes - begins >= needed:
            return begins + needed
        needed -= closes - begins
    return None


def _windows(
    session: Session, plan: Plan | Outreach, organization: Organization, now: datetime
) -> Iterator[tuple[datetime, datetime]]:
    """Yield the plan's hours within the organization's from now on, in the assistant's time
    zone."""
    zone, (start, end) = _zone(session, plan), hours_of(plan, organization)
    weekdays, day = weekdays_of(plan), now.astimezone(zone).date()
    for ahead in range(FARTHEST.days):
        date = day + timedelta(days=ahead)
        if plan.ends_on is not None and date > plan.ends_on:
            return
        is_early = plan.starts_on is not None and date < plan.starts_on
        if is_early or date.isoweekday() not in weekdays:
            continue
        opens = datetime.combine(date, start, zone).astimezone(now.tzinfo)
        closes = datetime.combine(date, end, zone).astimezone(now.tzinfo)
        begins = max(opens, now)
        if begins < closes:
            yield begins, closes


def _zone(session: Session, plan: Plan | Outreach) -> ZoneInfo:
    name = session.scalar(select(Assistant.timezone).where(Assistant.id == plan.assistant_id))
    return ZoneInfo(name or "UTC")
