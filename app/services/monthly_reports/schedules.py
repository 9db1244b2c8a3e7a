"""The schedule of a monthly report of a partner or an organization."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from app.calendar_months import midnight, month_of, next_month
from app.database import read_once
from app.errors import NotFound, Problem, check_version, raise_problems, unknown_language
from app.languages import gettext
from app.models import Organization, Partner, ReportSchedule, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, mail_queue, organizations, partners
from app.services.tenancy import of_tenant
from app.validation.time_zones import time_zones

MAX_DAY = 28
"""The last day that every month has."""
MAX_LISTED = 100


@dataclass(frozen=True, slots=True)
class ScheduleInput:
    """The day of the month and the hour in a time zone; without recipients nothing is sent. Without
    a language it is the partner's; users get it in their own."""

    day: int = 1
    hour: int = 8
    timezone: str = "UTC"
    recipients: tuple[str, ...] = ()
    language: str | None = None


def get(
    session: Session, caller: Caller, organization_id: UUID | None
) -> tuple[ScheduleInput, int, datetime | None]:
    """Return the schedule, its version and when the report is sent next; the defaults if nothing is
    stored. Raises `Forbidden`, `NotFound`."""
    caller.require(Permission.REPORT_READ)
    if caller.is_limited and organization_id is None:
        return ScheduleInput(), 0, None
    if organization_id is not None:
        organizations.get(session, caller, organization_id)
    scope = _scope_key(caller, organization_id)
    key = (ReportSchedule, scope)
    schedule = read_once(session, key, lambda: session.get(ReportSchedule, scope))
    return (
        (_to_input(schedule), schedule.version, schedule.next_at)
        if schedule
        else (ScheduleInput(), 0, None)
    )


def save(
    session: Session,
    caller: Caller,
    organization_id: UUID | None,
    data: ScheduleInput,
    *,
    expected_version: int | None = None,
) -> bool:
    """Store the schedule and its recipients; return whether anything changed.

    Raises `Forbidden`, `NotFound`, `ValidationFailed` (``out_of_range``, ``invalid_email``,
    ``too_many_recipients``, ``unknown_language``) and `Conflict` (``changed_meanwhile``).
    """
    caller.require(Permission.ORGANIZATIONS_WRITE)
    owner = owner_of(session, caller, organization_id, for_change=True)
    _validate(data)
    scope = _scope_key(caller, organization_id)
    stored = session.get(ReportSchedule, scope, populate_existing=True)
    before = _to_input(stored) if stored else ScheduleInput()
    if before == data:
        return False
    check_version(expected_version, stored.version if stored else 0, "schedule of the report")
    if stored is None:
        stored = ReportSchedule(scope=scope, partner_id=partners.own_partner_id(caller), version=0)
        stored.organization_id = organization_id
        session.add(stored)
    for name, value in asdict(data).items():
        setattr(stored, name, list(value) if isinstance(value, tuple) else value)
    stored.version += 1
    stored.next_at = next_time(stored, utcnow()) if data.recipients else None
    session.flush()
    kind = "organization" if organization_id else "partner"
    action, after = f"{kind}.report_scheduled", asdict(data)
    audit.record_change(session, caller, action, owner, before=asdict(before), after=after)
    return True


def listing(session: Session, caller: Caller) -> list[tuple[ReportSchedule, str | None]]:
    """Return the schedules that send a report, the next one first, with the names of their
    organizations; None for that of the whole portal. At most `MAX_LISTED`. Raises `Forbidden`."""
    caller.require(Permission.REPORT_READ)
    rows = of_tenant(
        select(ReportSchedule), caller, ReportSchedule.partner_id, ReportSchedule.organization_id
    ).where(ReportSchedule.next_at.is_not(None))
    schedules = session.scalars(rows.order_by(ReportSchedule.next_at).limit(MAX_LISTED)).all()
    ids = {each.organization_id for each in schedules if each.organization_id}
    names = organizations.names_of(session, caller, ids)
    return [
        (each, names.get(each.organization_id) if each.organization_id else None)
        for each in schedules
    ]


def is_any_due(session: Session, now: datetime) -> bool:
    return bool(session.scalar(select(exists().where(ReportSchedule.next_at <= now))))


def owner_of(
    session: Session, caller: Caller, organization_id: UUID | None, *, for_change: bool = False
) -> Partner | Organization:
    if organization_id is not None:
        return organizations.get(session, caller, organization_id, for_change=for_change)
    if caller.is_limited:
        raise NotFound
    return partners.get_own(session, caller, for_change=for_change)


def _scope_key(caller: Caller, organization_id: UUID | None) -> str:
    if organization_id is None:
        return f"partner:{partners.own_partner_id(caller)}"
    return f"organization:{organization_id}"


def _to_input(stored: ReportSchedule) -> ScheduleInput:
    return ScheduleInput(
        stored.day, stored.hour, stored.timezone, tuple(stored.recipients), stored.language
    )


def _validate(data: ScheduleInput) -> None:
    problems = []
    if not 1 <= data.day <= MAX_DAY:
        problems.append(
            Problem("day", "out_of_range", gettext("Enter a day from 1 to %(last)s.", last=MAX_DAY))
        )
    if not 0 <= data.hour <= 23:
        problems.append(Problem("hour", "out_of_range", gettext("Choose an hour.")))
    if data.timezone not in time_zones():
        problems.append(Problem("timezone", "out_of_range", gettext("Choose a time zone.")))
    problems += unknown_language(data.language)
    problems += mail_queue.problems_of_recipients(data.recipients)
    raise_problems(problems)


def next_time(schedule: ReportSchedule, now: datetime) -> datetime:
    """Return the next time of the schedule after ``now``; not before the reported month is over in
    UTC, as its days are."""
    zone = ZoneInfo(schedule.timezone)
    month = now.astimezone(zone).date()
    while True:
        chosen = datetime(month.year, month.month, schedule.day, schedule.hour, tzinfo=zone)
        candidate = max(chosen.astimezone(UTC), midnight(month_of(month)))
        if candidate > now:
            return candidate
        month = next_month(month)
