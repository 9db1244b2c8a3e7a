"""Reading calls: one, a page of them, and the timeline of one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import Session

from app.enums import CallerKind, CallSource, CallStatus
from app.errors import NotFound
from app.models import Call, CallAttempt, CallEvent
from app.policy.caller import Caller
from app.schemas.calls import CallFilter

_SEEN_BY_KEYS = (CallSource.API, CallSource.LEGACY)


@dataclass(frozen=True, slots=True)
class CallPage:
    """Calls, newest first, with their attempts; ``more`` where older ones follow."""

    calls: Sequence[Call]
    attempts: dict[UUID, list[CallAttempt]]
    more: bool


@dataclass(frozen=True, slots=True)
class Moment:
    """One line of a call's timeline. ``kind`` is listed at `app.services.calls.states.add_event`;
    for what was said, ``detail`` holds the words."""

    at: datetime
    kind: str
    status: CallStatus
    detail: str | None


def get(session: Session, caller: Caller, call_id: UUID | str) -> Call:
    """The call, if it is the caller's to see; `NotFound` (``call_not_found``) otherwise."""
    identifier = _as_uuid(call_id)
    call = None
    if identifier is not None:
        call = session.scalars(visible(caller).where(Call.id == identifier)).one_or_none()
    if call is None:
        message = "There is no such call."
        raise NotFound(message, "call_not_found")
    return call


def page(
    session: Session,
    caller: Caller,
    wanted: CallFilter | None = None,
    *,
    before: UUID | None = None,
) -> CallPage:
    """The newest calls the caller may see, or those older than the call ``before``: of those that
    are ``wanted``, as many as it says."""
    wanted = wanted or CallFilter()
    per_page = wanted.per_page
    query = visible(caller).where(*_conditions(wanted))
    if before is not None:
        query = query.where(Call.id < before)
    rows = session.scalars(query.order_by(Call.id.desc()).limit(per_page + 1)).all()
    calls = rows[:per_page]
    attempts = attempts_of(session, [call.id for call in calls])
    return CallPage(calls, attempts, more=len(rows) > per_page)


def _conditions(wanted: CallFilter) -> list[ColumnElement[bool]]:
    pairs = (
        (Call.status, wanted.status),
        (Call.answered_by, wanted.answered_by),
        (Call.ended_reason, wanted.ended_reason),
        (Call.phone_number, wanted.phone_number),
    )
    return [column == value for column, value in pairs if value is not None]


def attempts_of(session: Session, call_ids: Sequence[UUID]) -> dict[UUID, list[CallAttempt]]:
    """The attempts of each call in the order they were made, in one query."""
    found: dict[UUID, list[CallAttempt]] = {call_id: [] for call_id in call_ids}
    query = (
        select(CallAttempt).where(CallAttempt.call_id.in_(call_ids)).order_by(CallAttempt.number)
    )
    for attempt in session.scalars(query):
        found[attempt.call_id].append(attempt)
    return found


def timeline(session: Session, caller: Caller, call_id: UUID | str) -> list[Moment]:
    """What happened to a call, oldest first."""
    call = get(session, caller, call_id)
    query = (
        select(CallEvent).where(CallEvent.call_id == call.id).order_by(CallEvent.at, CallEvent.id)
    )
    return [
        Moment(event.at, _kind(event), event.status, event.detail)
        for event in session.scalars(query)
    ]


def visible(caller: Caller) -> Select[Call]:
    """The calls of the caller's tenant; a key sees the calls of its own kind of key."""
    query = select(Call)
    if caller.kind is CallerKind.API_KEY:
        query = query.where(Call.live.is_(caller.live), Call.source.in_(_SEEN_BY_KEYS))
    if caller.organization_id is not None:
        return query.where(Call.organization_id == caller.organization_id)
    if caller.partner_id is not None:
        return query.where(Call.partner_id == caller.partner_id)
    return query if caller.is_operator else query.where(Call.id.is_(None))


def _kind(event: CallEvent) -> str:
    key = event.key
    if event.attempt_id is not None:
        key = key.removeprefix(f"{event.attempt_id}:")
    return key.split(":", 1)[0]


def _as_uuid(value: UUID | str) -> UUID | None:
    if isinstance(value, UUID):
        return value
    try:
        return UUID(value)
    except ValueError:
        return None
