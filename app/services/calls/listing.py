"""The list of calls as a screen shows it: filtered, newest first, each with whose it is."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallStatus
from app.errors import ValidationFailed
from app.models import Agent, Call, Conversation, Organization
from app.models.base import id_at
from app.phone import PhoneError, normalise
from app.policy import Permission
from app.policy.caller import Caller
from app.services import name_search
from app.services.calls.reading import visible

UNANSWERED = frozenset(
    {CallStatus.BUSY, CallStatus.NO_ANSWER, CallStatus.FAILED, CallStatus.EXPIRED}
)
RUNNING = frozenset(status for status in CallStatus if not status.is_final)
SLACK = timedelta(days=1)
"""How far the id of a call may be made from the moment that is stored with it."""
MOST_REGIONS = 20


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which calls a person looks at. ``organization`` and ``agent`` are an id or part of a name,
    ``number`` is written in any way. ``since`` and ``before`` bound when calls were accepted, and
    with ``counted`` when their conversations began: these are the calls that usage counts."""

    states: frozenset[CallStatus] = field(default_factory=frozenset)
    answered_by: AnsweredBy | None = None
    organization: UUID | str | None = None
    agent: UUID | str | None = None
    number: str | None = None
    since: datetime | None = None
    before: datetime | None = None
    live: bool | None = None
    counted: bool = False


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of calls; ``next_cursor`` is None at the end. Names stand under the ids."""

    calls: Sequence[Call]
    agents: dict[UUID, str]
    organizations: dict[UUID, str]
    next_cursor: str | None


def search(
    session: Session, caller: Caller, chosen: Chosen, *, cursor: str | None = None, limit: int = 50
) -> Listed:
    """The newest calls that are chosen: four queries at most.

    Raises `ValidationFailed` (``invalid_cursor``).
    """
    caller.require(Permission.CALLS_READ)
    rows = visible(caller).where(*_conditions(session, caller, chosen))
    if chosen.counted:
        rows = rows.join(Conversation, Conversation.call_id == Call.id)
    if cursor:
        rows = rows.where(Call.id < _place(cursor))
    found = session.scalars(rows.order_by(Call.id.desc()).limit(limit + 1)).all()
    calls = found[:limit]
    return Listed(
        calls,
        _names(session, select(Agent.id, Agent.name), Agent.id.in_({c.agent_id for c in calls})),
        _names(
            session,
            select(Organization.id, Organization.name),
            Organization.id.in_({call.organization_id for call in calls}),
        ),
        calls[-1].id.hex if len(found) > limit else None,
    )


def without_calls(session: Session, caller: Caller, chosen: Chosen) -> int:
    """How many conversations usage counts of the chosen days and organization that have no call
    to be listed; 0 where something is chosen that only a call can answer."""
    caller.require(Permission.CALLS_READ)
    of_calls = (chosen.states, chosen.answered_by, chosen.agent, chosen.number)
    asks_calls = any(of_calls) or chosen.live is not None or isinstance(chosen.organization, str)
    if asks_calls or not chosen.counted:
        return 0
    rows = select(func.count()).select_from(Conversation).where(Conversation.call_id.is_(None))
    if caller.organization_id is not None:
        rows = rows.where(Conversation.organization_id == caller.organization_id)
    elif caller.partner_id is not None:
        rows = rows.where(Conversation.partner_id == caller.partner_id)
    if chosen.organization is not None:
        rows = rows.where(Conversation.organization_id == chosen.organization)
    if chosen.since is not None:
        rows = rows.where(Conversation.started_at >= chosen.since)
    if chosen.before is not None:
        rows = rows.where(Conversation.started_at < chosen.before)
    return session.scalar(rows) or 0


def of_number(session: Session, caller: Caller, text: str) -> ColumnElement[bool] | None:
    """The condition that a call went to a number written like that, or that begins like that;
    None for a text that is no number."""
    digits = "".join(c for c in text if c.isascii() and c.isdigit())
    if len(digits) < 3 or any(c.isalpha() for c in text):
        return None
    international = text.strip().startswith(("+", "00"))
    start = "+" + (digits.removeprefix("00") if international else digits)
    exact = set() if international else _in_regions(session, caller, text)
    begins = Call.phone_number >= start
    end = _behind(start)
    within = begins & (Call.phone_number < end) if end else begins
    return or_(Call.phone_number.in_(exact), within) if exact else within


def _in_regions(session: Session, caller: Caller, text: str) -> set[str]:
    """What a number without its country code is in the regions that the organizations call."""
    regions = select(Organization.default_region).distinct().limit(MOST_REGIONS)
    if caller.partner_id is not None:
        regions = regions.where(Organization.partner_id == caller.partner_id)
    if caller.organization_id is not None:
        regions = regions.where(Organization.id == caller.organization_id)
    found = set()
    for region in session.scalars(regions):
        try:
            found.add(normalise(text, region))
        except PhoneError:
            continue
    return found


def _behind(start: str) -> str | None:
    """The first text behind all that begin with a plus and these digits."""
    kept = start.rstrip("9")
    return kept[:-1] + str(int(kept[-1]) + 1) if kept != "+" else None


def _conditions(session: Session, caller: Caller, chosen: Chosen) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if chosen.states:
        found.append(Call.status.in_(chosen.states))
    if chosen.answered_by is not None:
        found.append(Call.answered_by == chosen.answered_by)
    if chosen.organization is not None:
        found.append(_of_organization(session, chosen.organization))
    if chosen.agent is not None:
        found.append(_by_agent(chosen.agent))
    if chosen.number is not None:
        condition = of_number(session, caller, chosen.number)
        found.append(Call.id.is_(None) if condition is None else condition)
    if chosen.live is not None:
        found.append(Call.live.is_(chosen.live))
    moment = Conversation.started_at if chosen.counted else Call.created_at
    if chosen.since is not None:
        found.append(moment >= chosen.since)
        if not chosen.counted:
            found.append(Call.id >= id_at(chosen.since - SLACK))
    if chosen.before is not None:
        found += [moment < chosen.before, Call.id < id_at(chosen.before + SLACK)]
    return found


def _of_organization(session: Session, wanted: UUID | str) -> ColumnElement[bool]:
    if isinstance(wanted, UUID):
        return Call.organization_id == wanted
    return name_search.is_of_organization_called(session, Call.organization_id, wanted)


def _by_agent(wanted: UUID | str) -> ColumnElement[bool]:
    if isinstance(wanted, UUID):
        return Call.agent_id == wanted
    return Call.agent_id.in_(select(Agent.id).where(Agent.named(wanted)))


def _names(
    session: Session, query: Select[UUID, str], condition: ColumnElement[bool]
) -> dict[UUID, str]:
    return {row.id: row.name for row in session.execute(query.where(condition))}


def _place(cursor: str) -> UUID:
    try:
        return UUID(cursor)
    except ValueError as error:
        message = "This place in the list can't be read; start from its beginning."
        raise ValidationFailed.on("cursor", "invalid_cursor", message) from error


def count_recent(session: Session, caller: Caller, chosen: Chosen, most: int) -> int:
    """How many are chosen, counted no further than ``most``."""
    rows = visible(caller).where(*_conditions(session, caller, chosen)).with_only_columns(Call.id)
    counted = rows.limit(most).subquery()
    return session.scalar(select(func.count()).select_from(counted)) or 0
