"""The monthly report as a mail: its schedule for a partner or an organization, and sending it."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from app import languages
from app.enums import OrganizationStatus
from app.errors import NotFound, Problem, refuse_any, refuse_stale
from app.languages import gettext
from app.languages.dates import NO_BREAK, written_date
from app.languages.numbers import written
from app.models import Mail, MailKind, Organization, Partner, ReportSchedule, utcnow
from app.policy import Permission
from app.policy.caller import Caller, system_caller
from app.services import audit, mail_queue, organizations, partners, reporting
from app.services.billing.margin import Earned
from app.services.billing.months import previous_month
from app.services.billing.usage import ModelRate
from app.services.money_words import micros
from app.services.tenancy import of_tenant
from app.services.users import account
from app.validation.time_zones import time_zones

LAST_DAY = 28
"""Every month has it."""
MOST_LISTED = 100
A_TURN = 50
"""So many reports are queued in one transaction."""


@dataclass(frozen=True, slots=True)
class ScheduleInput:
    """The day of the month and the hour in a time zone; without recipients nothing is sent."""

    day: int = 1
    hour: int = 8
    timezone: str = "UTC"
    recipients: tuple[str, ...] = ()


def get(
    session: Session, caller: Caller, organization_id: UUID | None
) -> tuple[ScheduleInput, int, datetime | None]:
    """Return the schedule, its version and when the report is sent next; the defaults if nothing is
    stored. Raises `Forbidden`, `NotFound`."""
    caller.require(Permission.REPORT_READ)
    if caller.is_limited and organization_id is None:
        return ScheduleInput(), 0, None
    found = session.get(ReportSchedule, _scope(_owner(session, caller, organization_id)))
    return (_read(found), found.version, found.next_at) if found else (ScheduleInput(), 0, None)


def save(
    session: Session,
    caller: Caller,
    organization_id: UUID | None,
    wanted: ScheduleInput,
    *,
    expected_version: int | None = None,
) -> bool:
    """Store when the report is sent and who receives it; return whether this changed anything.

    Raises `Forbidden`, `NotFound`, `ValidationFailed` (``out_of_range``, ``invalid_email``,
    ``too_many_recipients``) and `Conflict` (``changed_meanwhile``).
    """
    caller.require(Permission.ORGANIZATIONS_WRITE)
    owner = _owner(session, caller, organization_id, for_change=True)
    _check(wanted)
    stored = session.get(ReportSchedule, _scope(owner), populate_existing=True)
    before = _read(stored) if stored else ScheduleInput()
    if before == wanted:
        return False
    refuse_stale(expected_version, stored.version if stored else 0, "schedule of the report")
    if stored is None:
        stored = ReportSchedule(scope=_scope(owner), partner_id=partners.own(caller), version=0)
        stored.organization_id = organization_id
        session.add(stored)
    for name, value in asdict(wanted).items():
        setattr(stored, name, list(value) if isinstance(value, tuple) else value)
    stored.version += 1
    stored.next_at = _next(stored, utcnow()) if wanted.recipients else None
    session.flush()
    kind = "organization" if organization_id else "partner"
    action, after = f"{kind}.report_scheduled", asdict(wanted)
    audit.record_change(session, caller, action, owner, before=asdict(before), after=after)
    return True


def send_test(
    session: Session, caller: Caller, organization_id: UUID | None, model: ModelRate
) -> Mail:
    """Queue the report of last month for the caller alone. Raises `Forbidden`, `NotFound`."""
    owner = _owner(session, caller, organization_id)
    user = account.get(session, caller)
    of_partner = session.get_one(Partner, partners.own(caller)).language
    with languages.speaking(languages.best_tag((user.language, of_partner))):
        details = _details(session, caller, owner, organization_id, utcnow().date(), model)
    return mail_queue.hand_in(
        session,
        MailKind.MONTHLY_REPORT,
        partner_id=partners.own(caller),
        user_id=user.id,
        details=details,
    )


def listing(session: Session, caller: Caller) -> list[tuple[ReportSchedule, str | None]]:
    """Return the schedules that send a report, the next one first, with the names of their
    organizations; None for that of the whole portal. At most `MOST_LISTED`. Raises `Forbidden`."""
    caller.require(Permission.REPORT_READ)
    rows = of_tenant(
        select(ReportSchedule), caller, ReportSchedule.partner_id, ReportSchedule.organization_id
    ).where(ReportSchedule.next_at.is_not(None))
    found = session.scalars(rows.order_by(ReportSchedule.next_at).limit(MOST_LISTED)).all()
    ids = {each.organization_id for each in found if each.organization_id}
    names = organizations.names_of(session, caller, ids)
    return [
        (each, names.get(each.organization_id) if each.organization_id else None) for each in found
    ]


def is_any_due(session: Session, now: datetime) -> bool:
    return bool(session.scalar(select(exists().where(ReportSchedule.next_at <= now))))


def send_due(session: Session, now: datetime, model: ModelRate, figures: Session) -> int:
    """Queue the reports of the last month that are due, and plan the next ones; how many. Their
    figures are read with the session ``figures``."""
    due = session.scalars(
        select(ReportSchedule)
        .where(ReportSchedule.next_at <= now)
        .order_by(ReportSchedule.next_at)
        .limit(A_TURN)
        .with_for_update(skip_locked=True)
        .execution_options(populate_existing=True)
    ).all()
    for schedule in due:
        caller = system_caller("report", schedule.partner_id)
        schedule.next_at = _next(schedule, now)
        owner = _owner(session, caller, schedule.organization_id)
        if isinstance(owner, Organization) and owner.status is OrganizationStatus.ARCHIVED:
            continue
        today = now.astimezone(ZoneInfo(schedule.timezone)).date()
        of_partner = session.get_one(Partner, schedule.partner_id).language
        with languages.speaking(languages.best_tag((of_partner,))):
            details = _details(figures, caller, owner, schedule.organization_id, today, model)
        for address in schedule.recipients:
            mail_queue.hand_in(
                session,
                MailKind.MONTHLY_REPORT,
                partner_id=schedule.partner_id,
                to=address,
                details=details,
            )
    session.flush()
    return len(due)


def _owner(
    session: Session, caller: Caller, organization_id: UUID | None, *, for_change: bool = False
) -> Partner | Organization:
    if organization_id is not None:
        return organizations.get(session, caller, organization_id, for_change=for_change)
    if caller.is_limited:
        raise NotFound
    return partners.get_own(session, caller, for_change=for_change)


def _scope(owner: Partner | Organization) -> str:
    return f"{'partner' if isinstance(owner, Partner) else 'organization'}:{owner.id}"


def _read(stored: ReportSchedule) -> ScheduleInput:
    return ScheduleInput(stored.day, stored.hour, stored.timezone, tuple(stored.recipients))


def _check(wanted: ScheduleInput) -> None:
    problems = []
    if not 1 <= wanted.day <= LAST_DAY:
        problems.append(
            Problem(
                "day", "out_of_range", gettext("Enter a day from 1 to %(last)s.", last=LAST_DAY)
            )
        )
    if not 0 <= wanted.hour <= 23:
        problems.append(Problem("hour", "out_of_range", gettext("Choose an hour.")))
    if wanted.timezone not in time_zones():
        problems.append(Problem("timezone", "out_of_range", gettext("Choose a time zone.")))
    problems += mail_queue.problems_of_recipients(wanted.recipients)
    refuse_any(problems)


def _next(schedule: ReportSchedule, now: datetime) -> datetime:
    """Return the next time of the schedule after ``now``."""
    zone = ZoneInfo(schedule.timezone)
    month = now.astimezone(zone).date().replace(day=1)
    while True:
        at = datetime(month.year, month.month, schedule.day, schedule.hour, tzinfo=zone)
        if at > now:
            return at.astimezone(UTC)
        month = (month + timedelta(days=31)).replace(day=1)


def _details(
    session: Session,
    caller: Caller,
    owner: Partner | Organization,
    organization_id: UUID | None,
    today: date,
    model: ModelRate,
) -> dict[str, Any]:
    """Return what the mail shows: figures beside those of the month before, and organizations; in
    the current language. Costs and margin are in the partner's own report only: an organization's
    may go to the customer."""
    month = reporting.last_month(today)
    found = reporting.monthly(session, caller, month.start, today, organization_id)
    now, before = found.now, found.before
    figures = [
        (gettext("Conversations"), written(now.conversations), written(before.conversations)),
        (gettext("With a person"), written(now.by_human), written(before.by_human)),
        (
            gettext("Minutes in conversation"),
            written(now.seconds // 60),
            written(before.seconds // 60),
        ),
        (gettext("Calls answered"), _rate(found.calls), _rate(found.calls_before)),
    ]
    if organization_id is None:
        figures += _earned(session, caller, month.start, model)
    return {
        "name": owner.name,
        "month": written_date(month.start, "yMMMM").replace(NO_BREAK, " "),
        "start": month.start.isoformat(),
        "organizationId": str(organization_id) if organization_id else None,
        "figures": figures,
        "growing": _named(found.growing),
        "falling": _named(found.falling),
        "near": [(near.name, near.words) for near in found.near],
    }


def _earned(
    session: Session, caller: Caller, month: date, model: ModelRate
) -> list[tuple[str, str, str]]:
    """Return price, costs and margin; nothing if nothing was charged or spent. Model costs are left
    out where the operator has set none."""
    now, before = (
        reporting.earned(session, caller, each, model) for each in (month, previous_month(month))
    )
    if now is None or not (now.price or now.model or now.carrier):
        return []
    rows: list[tuple[str, Callable[[Earned], str]]] = [
        (gettext("Price to customers"), lambda one: micros(one.price, one.currency)),
        (gettext("Carrier cost"), _carrier_cost),
    ]
    if model != ModelRate():
        rows.append((gettext("Model cost"), lambda one: micros(one.model, one.model_currency)))
    rows.append((gettext("Margin"), _margin))
    return [(name, write(now), write(before) if before else "–") for name, write in rows]


def _carrier_cost(one: Earned) -> str:
    costs = [micros(each.reported + each.estimated, each.currency) for each in one.carrier]
    return ", ".join(costs) or "–"


def _margin(one: Earned) -> str:
    return "–" if one.margin is None else micros(one.margin, one.currency)


def _rate(calls: reporting.Answered) -> str:
    if not calls.ended:
        return "–"
    return f"{written(100 * calls.answered / calls.ended, 1)}{NO_BREAK}%"


def _named(movers: Sequence[reporting.Mover]) -> list[tuple[str, str, str]]:
    return [(each.name, written(each.conversations), written(each.before)) for each in movers]
