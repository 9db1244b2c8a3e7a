"""What a carrier reports of its own accord, once it is known that it is the carrier."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CarrierKind
from app.errors import Forbidden, NotFound
from app.gateways.carriers.base import LineEvent, LineEventKind, LineState, Verdict
from app.gateways.job_queue import enqueue_job
from app.models import Agent, Call, CallAttempt, utcnow
from app.services.calls import news, progress
from app.services.calls.states import ACTIVE, lock_attempt


@dataclass(frozen=True, slots=True)
class Speech:
    """What is to be said on the line; then the call is handed over, or ends."""

    words: str
    hand_over_to: str | None


def take(session: Session, carrier: CarrierKind, attempt_id: UUID, state: LineState) -> bool:
    """Writes what the carrier reports; states only move forward. False where the attempt was over.

    An attempt whose answer was lost gets its reference here; where it was given up meanwhile, the
    worker ends the call. Raises `NotFound` where there is no
    such attempt of the carrier's, `Forbidden` where the call is another's.
    """
    attempt = _attempt(session, carrier, attempt_id, str(state.reference))
    if attempt.status not in ACTIVE:
        if attempt.carrier_reference is None and state.end_reason is None:
            # Given up as never placed, and on the line after all: nobody waits for it any more.
            attempt.carrier_reference = state.reference
            enqueue_job(session, "end_stray_call", f"stray:{attempt.id}", str(attempt.id))
            session.flush()
        return False
    was_lost = attempt.carrier_reference is None
    standing = progress.apply(session, attempt.id, state)
    if was_lost or standing.over:
        # Whoever follows the call is woken: nothing more needs to be asked, or all of it.
        news.tell(session, attempt.id)
    session.flush()
    return True


def answer(
    session: Session,
    carrier: CarrierKind,
    attempt_id: UUID,
    reference: str,
    answered_by: AnsweredBy | None,
) -> Speech | None:
    """The words for whoever answered: the voicemail message for a machine, the intro for anybody
    else. None where the attempt is over by our books. Raises as `take` does.

    A person is handed over to the assistant's voice address where it has one.
    """
    is_machine = answered_by is AnsweredBy.VOICEMAIL
    now = utcnow()
    said = LineEventKind.SAID_VOICEMAIL if is_machine else LineEventKind.SAID_INTRO
    events = (LineEvent(LineEventKind.ANSWERED, now, answered_by), LineEvent(said, now))
    if not take(session, carrier, attempt_id, LineState(Verdict.PLACED, reference, events)):
        return None
    call, voice_address = session.execute(
        select(Call, Agent.voice_address)
        .join(CallAttempt, CallAttempt.call_id == Call.id)
        .join(Agent, Agent.id == Call.agent_id)
        .where(CallAttempt.id == attempt_id)
    ).one()
    if is_machine:
        return Speech(call.voicemail_message or "", None)
    return Speech(call.intro_message or "", voice_address)


def _attempt(
    session: Session, carrier: CarrierKind, attempt_id: UUID, reference: str
) -> CallAttempt:
    """The attempt, locked, once nothing says that the carrier's call is another's."""
    those = select(CallAttempt.id).where(
        CallAttempt.carrier == carrier,
        or_(CallAttempt.id == attempt_id, CallAttempt.carrier_reference == reference),
    )
    # In the order of their ids: two reports may put right the same two guesses.
    locked = {found: lock_attempt(session, found)[1] for found in sorted(session.scalars(those))}
    attempt = locked.pop(attempt_id, None)
    if attempt is None:
        message = "There is no such attempt."
        raise NotFound(message, "attempt_not_found")
    if attempt.carrier_reference != reference:
        _put_right(attempt, reference, list(locked.values()))
    attempt.is_guessed = False
    return attempt


def _put_right(attempt: CallAttempt, reference: str, holders: Sequence[CallAttempt]) -> None:
    """Where the reference was guessed, the carrier's word counts: the attempt gets its own, and
    whoever held that gets the attempt's. Raises `Forbidden` where there was nothing to guess."""
    for one in (attempt, *holders):
        if one.carrier_reference is None:
            continue
        if not one.is_guessed or not {attempt.status, one.status} <= ACTIVE:
            message = "The call belongs to another attempt."
            raise Forbidden(message, "other_call")
    if attempt.carrier_reference is None and not holders:
        return
    for holder in holders:
        holder.carrier_reference = attempt.carrier_reference
    attempt.carrier_reference = reference
