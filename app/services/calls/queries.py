"""Reading calls: one, a page of them, their timeline, the API's description."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, ScalarSelect, Select, case, func, select
from sqlalchemy.orm import Session

from app.enums import CallerKind, CallSource, CallStatus, EndedReason
from app.errors import NotFound
from app.languages import gettext
from app.models import (
    Call,
    CallAttempt,
    CallEvent,
    utcnow,
)
from app.models.base import id_at
from app.policy.caller import Caller
from app.schemas import calls as schemas
from app.schemas.calls import CallFilter
from app.services.tenancy import fetch, in_groups
from app.validation.uuids import as_uuid

_SEEN_BY_KEYS = (CallSource.API, CallSource.LEGACY)
UNANSWERED = frozenset(
    {CallStatus.BUSY, CallStatus.NO_ANSWER, CallStatus.FAILED, CallStatus.EXPIRED}
)
RUNNING = frozenset(status for status in CallStatus if not status.is_final)
MAX_COUNTED = 1000
LAST_DAY = timedelta(days=1)
_WAITING = (CallStatus.QUEUED, CallStatus.DIALING)


@dataclass(frozen=True, slots=True)
class CallPage:
    """Calls, newest first, with their attempts; ``more`` if older ones follow."""

    calls: Sequence[Call]
    attempts: dict[UUID, list[CallAttempt]]
    more: bool


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """An entry of a call's timeline. `events.add_timeline_entry` lists the kinds; ``detail`` of a
    message is its text."""

    at: datetime
    kind: str
    status: CallStatus
    detail: str | None


def get(session: Session, caller: Caller, call_id: UUID | str) -> Call:
    """Return the call; a read-only transaction reads it once. Raises `NotFound`
    (``call_not_found``) if the caller may not see it."""
    identifier = as_uuid(call_id)
    if identifier is None:
        raise not_found()
    query = visible(caller).where(Call.id == identifier)
    return fetch(session, query, not_found(), key=(Call, caller, identifier))


def not_found() -> NotFound:
    return NotFound(gettext("There is no such call."), "call_not_found")


def earlier_of(session: Session, caller: Caller, call: Call) -> Call | None:
    """Return the call after which a call that came from its loader was placed again."""
    if call.after_call_id is None:
        return None
    return session.scalar(visible(caller).where(Call.id == call.after_call_id))


def later_of(session: Session, caller: Caller, call: Call, limit: int) -> Sequence[Call]:
    """Return the first calls that were placed again after a call that came from its loader."""
    rows = visible(caller).where(
        Call.organization_id == call.organization_id,
        Call.phone_number == call.phone_number,  # its index finds them
        Call.after_call_id == call.id,
    )
    return session.scalars(rows.order_by(Call.id).limit(limit)).all()


def page(
    session: Session,
    caller: Caller,
    filters: CallFilter | None = None,
    *,
    before: UUID | None = None,
) -> CallPage:
    """Return a page of the newest calls that the caller may see and that match ``filters``, or of
    those older than the call ``before``."""
    filters = filters or CallFilter()
    per_page = filters.per_page
    query = visible(caller).where(*_filter_conditions(filters))
    if before is not None:
        query = query.where(Call.id < before)
    rows = session.scalars(query.order_by(Call.id.desc()).limit(per_page + 1)).all()
    calls = rows[:per_page]
    attempts = attempts_of(session, [call.id for call in calls])
    return CallPage(calls, attempts, more=len(rows) > per_page)


def _filter_conditions(filters: CallFilter) -> list[ColumnElement[bool]]:
    pairs = (
        (Call.status, filters.status),
        (Call.answered_by, filters.answered_by),
        (Call.ended_reason, filters.ended_reason),
        (Call.phone_number, filters.phone_number),
    )
    return [column == value for column, value in pairs if value is not None]


def attempts_of(session: Session, call_ids: Sequence[UUID]) -> dict[UUID, list[CallAttempt]]:
    """The attempts of each call, oldest first, in one query."""
    attempts: dict[UUID, list[CallAttempt]] = {call_id: [] for call_id in call_ids}
    query = (
        select(CallAttempt).where(CallAttempt.call_id.in_(call_ids)).order_by(CallAttempt.number)
    )
    for attempt in session.scalars(query):
        attempts[attempt.call_id].append(attempt)
    return attempts


def timeline(session: Session, call: Call) -> list[TimelineEntry]:
    """Return the timeline of a call that came from its loader, oldest first.

    The clocks of hosts and carriers differ, so the entries that start and end a call come first and
    last whatever their times are. If the timeline was deleted, it has the times that are stored
    with the call.
    """
    order = case({"accepted": 0, "ended": 2}, value=CallEvent.key, else_=1)
    query = (
        select(CallEvent)
        .where(CallEvent.call_id == call.id)
        .order_by(order, CallEvent.at, CallEvent.id)
    )
    entries = [
        TimelineEntry(event.at, _event_kind(event), event.status, event.detail)
        for event in session.scalars(query)
    ]
    return entries or _stored_moments(call)


def _stored_moments(call: Call) -> list[TimelineEntry]:
    times = (
        (call.created_at, "accepted", CallStatus.QUEUED),
        (call.started_at, "dialing", CallStatus.DIALING),
        (call.answered_at, "answered", CallStatus.IN_PROGRESS),
        (call.ended_at, "ended", call.status),
    )
    return [TimelineEntry(at, kind, status, None) for at, kind, status in times if at is not None]


def visible(caller: Caller) -> Select[Call]:
    """Return the query of the caller's tenant's calls; a live key sees live calls, a test key test
    calls."""
    query = select(Call)
    if caller.kind is CallerKind.API_KEY:
        query = query.where(Call.live.is_(caller.live), Call.source.in_(_SEEN_BY_KEYS))
    if caller.is_limited:
        query = query.where(in_groups(caller, Call.organization_id))
    if caller.organization_id is not None:
        return query.where(Call.organization_id == caller.organization_id)
    if caller.partner_id is not None:
        return query.where(Call.partner_id == caller.partner_id)
    return query if caller.is_operator else query.where(Call.id.is_(None))


def _event_kind(event: CallEvent) -> str:
    key = event.key
    if event.attempt_id is not None:
        key = key.removeprefix(f"{event.attempt_id}:")
    return key.split(":", 1)[0]


def describe(call: Call, attempts: Sequence[CallAttempt]) -> schemas.Call:
    """Return the call as the API returns it, alone and in a list."""
    contact = call.contact
    return schemas.Call(
        call_id=call.id,
        assistant_id=call.assistant_id,
        phone_number=call.phone_number,
        contact=schemas.CalledContact(
            phone_number=call.phone_number,
            first_name=contact.get("firstName"),
            last_name=contact.get("lastName"),
            email=contact.get("email"),
        ),
        metadata=call.call_metadata,
        status=call.status,
        answered_by=call.answered_by,
        ended_reason=call.ended_reason,
        status_detail=call.status_detail,
        created_at=call.created_at,
        scheduled_for=call.scheduled_for,
        next_attempt_at=call.next_attempt_at,
        started_at=call.started_at,
        answered_at=call.answered_at,
        ended_at=call.ended_at,
        attempts=[
            schemas.CallAttempt(
                id=attempt.id,
                number=attempt.number,
                status=attempt.status,
                answered_by=attempt.answered_by,
                ended_reason=attempt.ended_reason,
                started_at=attempt.started_at,
                answered_at=attempt.answered_at,
                ended_at=attempt.ended_at,
                cost=float(attempt.cost) if attempt.cost is not None else None,
                cost_currency=attempt.cost_currency,
            )
            for attempt in attempts
        ],
    )


def waiting_calls(session: Session, caller: Caller) -> int:
    """Return how many of the caller's calls wait to be placed, up to `MAX_COUNTED`."""
    return session.scalar(select(_counting(caller, *_WAITING))) or 0


def waiting_and_scheduled(session: Session, caller: Caller) -> tuple[int, int]:
    """Return how many of the caller's calls wait to be placed, and how many for their time, each up
    to `MAX_COUNTED`: one query."""
    waiting = _counting(caller, *_WAITING)
    scheduled = _counting(caller, CallStatus.SCHEDULED)
    row = session.execute(select(waiting, scheduled)).one()
    return row[0], row[1]


def _counting(caller: Caller, *statuses: CallStatus) -> ScalarSelect[int]:
    matching = visible(caller).where(Call.status.in_(statuses)).with_only_columns(Call.id)
    few = matching.limit(MAX_COUNTED).subquery()
    return select(func.count()).select_from(few).scalar_subquery()


def failed_calls(session: Session, caller: Caller) -> dict[EndedReason, int]:
    """Return the caller's calls that failed in the last day, counted by reason."""
    failed = session.execute(
        visible(caller)
        .where(Call.status == CallStatus.FAILED, Call.id >= id_at(utcnow() - LAST_DAY))
        .with_only_columns(Call.ended_reason, func.count(Call.id))
        .group_by(Call.ended_reason)
    )
    return {reason: count for reason, count in failed if reason is not None}
