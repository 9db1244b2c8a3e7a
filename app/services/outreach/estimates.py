"""When the calls of a campaign begin and end by its plan's hours."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Assistant, Organization, Outreach
from app.services.calls import limits
from app.services.outreach.plans import Plan, closing, weekdays_of

HOUR = timedelta(hours=1)
FARTHEST = timedelta(days=366)
USUAL_CALL = timedelta(minutes=1)
"""How long a call is taken to be before any was placed."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """``at_once`` is the most calls at once, ``lasts`` the time within the plan's hours. The times
    are None if the plan's days don't allow them, or not within a year."""

    at_once: int
    lasts: timedelta
    begins_at: datetime | None
    ends_at: datetime | None


def estimate(
    session: Session,
    plan: Plan | Outreach,
    organization: Organization,
    contacts: int,
    now: datetime,
    most_at_once: int,
) -> Estimate:
    """Estimate the calls to this many contacts if the campaign starts now and each call takes
    `USUAL_CALL`; ``most_at_once`` is the installation's limit of an organization."""
    own = limits.calls_at_once(organization, most_at_once)
    at_once = min(own, plan.calls_at_once or own)
    pace = at_once * (HOUR / USUAL_CALL)
    if plan.calls_per_hour:
        pace = min(pace, plan.calls_per_hour)
    first = next(_windows(session, plan, now), None)
    return Estimate(
        at_once=at_once,
        lasts=HOUR * (contacts / pace),
        begins_at=first[0] if first else None,
        ends_at=end_of(session, plan, contacts, pace, now),
    )


def end_of(
    session: Session, plan: Plan | Outreach, left: int, pace: float, now: datetime
) -> datetime | None:
    """Return when ``left`` contacts are called at ``pace`` calls an hour; None for more than a year
    ahead."""
    if left / pace >= FARTHEST / HOUR:
        return None
    needed = HOUR * (left / pace)
    for begins, closes in _windows(session, plan, now):
        if closes - begins >= needed:
            return begins + needed
        needed -= closes - begins
    return None


def _windows(
    session: Session, plan: Plan | Outreach, now: datetime
) -> Iterator[tuple[datetime, datetime]]:
    """Yield the plan's hours from now on, in the assistant's time zone."""
    zone_name = session.scalar(select(Assistant.timezone).where(Assistant.id == plan.assistant_id))
    zone = ZoneInfo(zone_name or "UTC")
    weekdays, day = weekdays_of(plan), now.astimezone(zone).date()
    for ahead in range(FARTHEST.days):
        date = day + timedelta(days=ahead)
        if plan.ends_on is not None and date > plan.ends_on:
            return
        is_early = plan.starts_on is not None and date < plan.starts_on
        if is_early or date.isoweekday() not in weekdays:
            continue
        opens = datetime.combine(date, plan.hours_start, zone).astimezone(now.tzinfo)
        closes = datetime.combine(date, closing(plan.hours_end), zone).astimezone(now.tzinfo)
        begins = max(opens, now)
        if begins < closes:
            yield begins, closes
