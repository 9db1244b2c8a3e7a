"""Comparing the carrier's list of calls with the database after a restore.

The database lacks the calls that were placed since the backup. A listed call that no attempt has
becomes an attempt of the call that still waits to be placed; its outcome comes from the carrier's
report.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from app.enums import CarrierKind
from app.gateways.carriers.base import ListedCall
from app.gateways.job_queue import enqueue_call
from app.models import Assistant, Call, CallAttempt, HeldCall, new_id
from app.policy.caller import Caller
from app.services import spending
from app.services.calls import carrier_reports, lifecycle
from app.services.calls.resolve import record_resolved
from app.services.calls.states import ACTIVE, WAITING, lock_call

CLOCK_SLACK = timedelta(seconds=30)
"""The maximum difference of our clock and the carrier's."""
REFERENCE_BATCH = 500

Account = tuple[CarrierKind, UUID | None]
"""A carrier, and the carrier account or None for the installation's."""


def accounts_of_waiting(session: Session) -> set[Account]:
    """Return the carriers that would place the waiting calls."""
    query = select(Call.carrier, Call.account_id).where(Call.status.in_(WAITING)).distinct()
    return {(row[0], row[1]) for row in session.execute(query)}


def unrecorded_calls(session: Session, listed: Iterable[ListedCall]) -> list[ListedCall]:
    """The listed calls that no attempt has, the earliest first. An active attempt whose answer was
    lost takes one of them: the worker asks about it itself."""
    in_order = sorted(listed, key=lambda each: each.began_at)
    recorded = _recorded_references(session, [each.state.reference or "" for each in in_order])
    lost = _lost_answers(session)
    unrecorded = []
    for each in in_order:
        if each.state.reference in recorded:
            continue
        began = lost.get((each.to_number, each.from_number), [])
        if began and began[0] - CLOCK_SLACK <= each.began_at:
            began.pop(0)
            continue
        unrecorded.append(each)
    return unrecorded


def record_placed(session: Session, caller: Caller, listed: ListedCall) -> bool:
    """Store the listed call as an attempt of the waiting call with its numbers; return whether
    there is one."""
    query = (
        select(Call.id)
        .join(Assistant, Assistant.id == Call.assistant_id)
        .where(
            Call.status.in_(WAITING),
            Call.phone_number == listed.to_number,
            Assistant.phone_number == listed.from_number,
        )
        .order_by(Call.id)
        .limit(1)
    )
    call_id = session.scalar(query)
    if call_id is not None:
        write_attempt(session, caller, call_id, listed)
    return call_id is not None


def write_attempt(session: Session, caller: Caller, call_id: UUID, listed: ListedCall) -> None:
    """Store the listed call as the next attempt of a waiting call, with its outcome."""
    call = lock_call(session, call_id)
    if call.status not in WAITING:
        return
    before, attempt_id = call.status, new_id()
    assistant = session.get_one(Assistant, call.assistant_id)
    attempts = select(func.count()).where(CallAttempt.call_id == call.id)
    number, began_at = (session.scalar(attempts) or 0) + 1, listed.began_at
    nothing = spending.CallAmount(0, 0)
    lifecycle.begin_attempt(session, call, assistant, attempt_id, number, began_at, nothing)
    session.execute(delete(HeldCall).where(HeldCall.call_id == call.id))
    session.flush()
    session.get_one(CallAttempt, attempt_id).asked_at = began_at
    session.flush()
    carrier_reports.apply(session, attempt_id, listed.state)
    session.flush()
    if call.status in ACTIVE:
        enqueue_call(
            session,
            call_id=call.id,
            attempt_id=attempt_id,
            organization_id=call.organization_id,
            live=call.live,
            had_its_turn=True,
        )
    record_resolved(session, caller, call, before, "found at the carrier after a restore")


def waits_for(session: Session, number: str) -> bool:
    """Return whether a call to the number waits."""
    query = select(Call.id).where(Call.status.in_(WAITING), Call.phone_number == number)
    return session.scalar(query.limit(1)) is not None


def _recorded_references(session: Session, references: list[str]) -> set[str]:
    recorded: set[str] = set()
    for start in range(0, len(references), REFERENCE_BATCH):
        chunk = references[start : start + REFERENCE_BATCH]
        is_listed = CallAttempt.carrier_reference.in_(chunk)
        recorded |= set(
            filter(None, session.scalars(select(CallAttempt.carrier_reference).where(is_listed)))
        )
    return recorded


def _lost_answers(session: Session) -> dict[tuple[str, str], list[datetime]]:
    """Return when the active attempts without a reference began, by their numbers."""
    query = (
        select(CallAttempt.started_at, Call.phone_number, CallAttempt.from_number)
        .join(Call, Call.id == CallAttempt.call_id)
        .where(CallAttempt.status.in_(ACTIVE), CallAttempt.carrier_reference.is_(None))
        .order_by(CallAttempt.started_at)
    )
    lost: dict[tuple[str, str], list[datetime]] = {}
    for started_at, to_number, from_number in session.execute(query):
        lost.setdefault((to_number, from_number or ""), []).append(started_at)
    return lost
