"""The first page's figures and what needs a decision, each with where to go."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from app.caller import Caller
from app.enums import CallStatus, ImportState, OrganizationStatus, Tier
from app.models import Agent, Call, ContactImport, Organization, User, utcnow
from app.policy import Permission
from app.services import agents, organizations, reporting
from app.services.calls.reading import visible as visible_calls
from app.services.organizations.loading import visible as visible_organizations

MOST_MATTERS = 6
RECENT = timedelta(days=14)


@dataclass(frozen=True, slots=True)
class Matter:
    """Something that needs a decision: ``kind`` says where it is mended, ``target`` which one."""

    kind: str
    title: str
    text: str
    target: UUID | None = None


@dataclass(frozen=True, slots=True)
class Month:
    """This month until today beside the same days of the month before; days are UTC."""

    start: date
    today: date
    days: list[reporting.Day]
    days_before: list[reporting.Day]

    def total(self, name: str) -> int:
        return sum(getattr(day, name) for day in self.days)

    def total_before(self, name: str) -> int:
        return sum(getattr(day, name) for day in self.days_before)


def month(session: Session, caller: Caller) -> Month:
    """The figures of the month for the caller's partner or organization."""
    today = utcnow().date()
    start = today.replace(day=1)
    start_before = (start - timedelta(days=1)).replace(day=1)
    end_before = min(start_before + (today - start), start - timedelta(days=1))
    return Month(
        start,
        today,
        list(reporting.daily(session, caller, start, today)),
        list(reporting.daily(session, caller, start_before, end_before)),
    )


def calls_since(session: Session, caller: Caller, start: date) -> int:
    """Calls accepted since the day began (UTC) that the caller may see."""
    since = datetime.combine(start, time(), UTC)
    calls = visible_calls(caller).where(Call.created_at >= since).subquery()
    return session.scalar(select(func.count()).select_from(calls)) or 0


def organizations_by_tier(session: Session, caller: Caller) -> dict[str, int]:
    """How many organizations are on each plan, plans without any too."""
    tier = func.coalesce(Organization.payment_tier, Tier.FREE.value)
    query = visible_organizations(caller).with_only_columns(tier, func.count()).group_by(tier)
    counted = {str(name): count for name, count in session.execute(query)}
    return {tier.value: counted.get(tier.value, 0) for tier in Tier}


def newest_organizations(session: Session, caller: Caller, limit: int) -> list[Organization]:
    return list(organizations.search(session, caller, limit=limit).items)


def matters(session: Session, caller: Caller) -> list[Matter]:
    """What needs a decision, the most pressing first; at most `MOST_MATTERS`."""
    found: list[Matter] = []
    for ask in _QUESTIONS:
        found.extend(ask(session, caller))
        if len(found) >= MOST_MATTERS:
            break
    return found[:MOST_MATTERS]


def _unknown_calls(session: Session, caller: Caller) -> list[Matter]:
    if not caller.may(Permission.CALLS_READ):
        return []
    query = visible_calls(caller).where(
        Call.status == CallStatus.UNKNOWN, Call.created_at > utcnow() - RECENT
    )
    return [
        Matter(
            "call",
            f"Call to {call.phone_number} with unknown outcome",
            "The carrier could not say whether it was placed.",
            call.id,
        )
        for call in session.scalars(query.order_by(Call.id.desc()).limit(2))
    ]


def _waiting_imports(session: Session, caller: Caller) -> list[Matter]:
    if not caller.may(Permission.CONTACTS_WRITE):
        return []
    query = _imports(caller).where(
        ContactImport.state == ImportState.CHECKED, ContactImport.created_at > utcnow() - RECENT
    )
    return [
        Matter(
            "import",
            f"{found.file_name} waits to be applied",
            f"{found.failed:,} of {found.rows_total:,} rows need mending.",
            found.id,
        )
        for found in session.scalars(query.order_by(ContactImport.id.desc()).limit(2))
    ]


def _full_organizations(session: Session, caller: Caller) -> list[Matter]:
    if not caller.may(Permission.ORGANIZATIONS_READ):
        return []
    people = (
        select(User.organization_id, func.count().label("people"))
        .group_by(User.organization_id)
        .subquery()
    )
    query = (
        visible_organizations(caller)
        .join(people, people.c.organization_id == Organization.id)
        .where(
            Organization.status == OrganizationStatus.ACTIVE,
            Organization.user_limit > 1,
            people.c.people >= Organization.user_limit,
        )
        .order_by(Organization.name)
        .limit(2)
    )
    return [
        Matter("organization", found.name, f"All {found.user_limit} seats are taken.", found.id)
        for found in session.scalars(query)
    ]


def _silent_agents(session: Session, caller: Caller) -> list[Matter]:
    if not caller.may(Permission.ORGANIZATIONS_READ):
        return []
    query = (
        agents.visible(caller)
        .join(Organization, Organization.id == Agent.organization_id)
        .add_columns(Organization.name)
        .where(Agent.active, ~(Agent.phone_enabled & Agent.phone_configured))
        .order_by(Agent.created_at.desc(), Agent.id)
        .limit(3)
    )
    return [
        Matter(
            "organization",
            row[1],
            f"The phone of {row[0].name} is not set up.",
            row[0].organization_id,
        )
        for row in session.execute(query).all()
    ]


def _imports(caller: Caller) -> Select[ContactImport]:
    query = select(ContactImport).where(ContactImport.partner_id == caller.partner_id)
    if caller.organization_id is not None:
        query = query.where(ContactImport.organization_id == caller.organization_id)
    return query


_QUESTIONS: tuple[Callable[[Session, Caller], list[Matter]], ...] = (
    _unknown_calls,
    _waiting_imports,
    _full_organizations,
    _silent_agents,
)
