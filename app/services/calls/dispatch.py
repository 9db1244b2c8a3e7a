"""From waiting to dialled: what the worker does in the database around the carrier's answer.

The order decides everything. `claim` writes the attempt; only when that is committed is the
carrier asked, once, with the attempt's id. An attempt that is found again after a crash is never
dialled: the carrier is asked what became of it, and one of `placed`, `refused`, `never_placed` or
`unknown` is recorded.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import CallStatus, CarrierKind, EndedReason
from app.gateways.carriers.base import Placement
from app.gateways.job_queue import enqueue_call
from app.gateways.writers.base import Brief, Messages
from app.models import Agent, Call, CallAttempt, Organization, Partner, new_id, utcnow
from app.services.calls import rules
from app.services.calls.outcome import end_attempt, end_call
from app.services.calls.states import ACTIVE, WAITING, add_event, lock_call

MOST_UNPLACED = 3
"""How often a carrier that never placed the call is asked with a new attempt."""


class ClaimKind(StrEnum):
    DIAL = "dial"
    RESOLVE = "resolve"
    FOLLOW = "follow"
    WAIT = "wait"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Claim:
    """What the worker is to do next with a call; ``placement`` comes with DIAL alone."""

    kind: ClaimKind
    carrier: CarrierKind
    placement: Placement | None = None


def writing_brief(session: Session, call_id: UUID) -> Brief | None:
    """The facts for the message writer, or None where the call has its words already."""
    call = session.get(Call, call_id)
    if call is None or call.intro_message or not call.call_instructions:
        return None
    agent = session.get_one(Agent, call.agent_id)
    partner = session.get_one(Partner, call.partner_id)
    return Brief(
        notes=call.call_instructions,
        contact_name=call.contact.get("firstName"),
        agent_name=agent.name,
        organization_name=session.get_one(Organization, call.organization_id).name,
        product_name=partner.product_name,
        callback_number=agent.phone_number,
        converses=agent.voice_address is not None,
    )


def claim(
    session: Session,
    call_id: UUID,
    attempt_id: UUID,
    *,
    messages: Messages | None,
    calls_at_once: int,
) -> Claim:
    """Decides what happens to a call whose turn has come; writes the attempt where it is dialled.

    Everything that was checked when the call was accepted is checked again here.
    """
    call = lock_call(session, call_id)
    attempt = session.get(CallAttempt, attempt_id, populate_existing=True)
    if attempt is not None:
        return _begun_before(attempt)
    if call.status not in WAITING:
        return Claim(ClaimKind.DONE, call.carrier)
    now = utcnow()
    organization = _lock_organization(session, call.organization_id)
    if _stopped_or_postponed(session, call, organization, now):
        return Claim(ClaimKind.DONE, call.carrier)
    cap = min(calls_at_once, organization.max_calls_at_once or calls_at_once)
    if _under_way(session, call.organization_id) >= cap:
        return Claim(ClaimKind.WAIT, call.carrier)
    if messages is not None and not call.intro_message:
        call.intro_message, call.voicemail_message = messages.intro, messages.voicemail
    placement = _begin_attempt(session, call, attempt_id, now)
    return Claim(ClaimKind.DIAL, call.carrier, placement)


def placed(session: Session, attempt_id: UUID, reference: str) -> None:
    """The carrier took the call."""
    _call, attempt = _locked(session, attempt_id)
    if attempt.carrier_reference is None:
        attempt.carrier_reference = reference


def refused(session: Session, attempt_id: UUID, reason: EndedReason, message: str) -> None:
    """The carrier said no: this attempt has not rung and never will."""
    call, attempt = _locked(session, attempt_id)
    end_attempt(session, call, attempt, CallStatus.FAILED, reason, at=utcnow(), detail=message)


def never_placed(session: Session, attempt_id: UUID) -> None:
    """The carrier is certain that it never got the request: a new attempt takes its place."""
    call, attempt = _locked(session, attempt_id)
    if attempt.status is not CallStatus.DIALING or call.status is not CallStatus.DIALING:
        return
    now = utcnow()
    detail = "The carrier was asked, but the request never reached it."
    unplaced = 1 + (
        session.scalar(
            select(func.count())
            .select_from(CallAttempt)
            .where(CallAttempt.call_id == call.id, CallAttempt.detail == detail)
        )
        or 0
    )
    if call.cancel_requested_at is not None or unplaced >= MOST_UNPLACED:
        end_attempt(
            session,
            call,
            attempt,
            CallStatus.FAILED,
            EndedReason.CARRIER_ERROR,
            at=now,
            detail=detail,
        )
        return
    attempt.status, attempt.ended_reason = CallStatus.FAILED, EndedReason.CARRIER_ERROR
    attempt.ended_at, attempt.detail = now, detail
    call.status, call.started_at = CallStatus.QUEUED, None
    add_event(
        session,
        call,
        "never-placed",
        CallStatus.QUEUED,
        at=now,
        detail=detail,
        attempt_id=attempt.id,
    )
    _enqueue(session, call, now)


def give_up(session: Session, call_id: UUID, attempt_id: UUID) -> None:
    """Something broke that repeating won't mend: a person is shown the call as it stands."""
    call = lock_call(session, call_id)
    if session.get(CallAttempt, attempt_id) is not None:
        unknown(session, attempt_id)
    elif call.status in WAITING:
        detail = "The call could not be prepared; it was not placed."
        end_call(
            session, call, CallStatus.FAILED, EndedReason.CARRIER_ERROR, at=utcnow(), detail=detail
        )


def unknown(session: Session, attempt_id: UUID) -> None:
    """Nobody can say whether it rang: shown to a person, never dialled again by itself."""
    call, attempt = _locked(session, attempt_id)
    detail = "The carrier could not say whether the call was placed."
    end_attempt(
        session, call, attempt, CallStatus.UNKNOWN, EndedReason.UNKNOWN, at=utcnow(), detail=detail
    )


def _lock_organization(session: Session, organization_id: UUID) -> Organization:
    """Claims of one organization wait for each other here, so that its cap holds."""
    query = (
        select(Organization)
        .where(Organization.id == organization_id)
        .with_for_update(key_share=True)
    )
    return session.scalars(query, execution_options={"populate_existing": True}).one()


def _stopped_or_postponed(
    session: Session, call: Call, organization: Organization, now: datetime
) -> bool:
    if now >= call.expires_at:
        end_call(session, call, CallStatus.EXPIRED, EndedReason.EXPIRED, at=now)
        return True
    blocker = rules.first_blocker(session, call, organization)
    if blocker is not None:
        end_call(session, call, CallStatus.CANCELED, blocker.reason, at=now, detail=blocker.message)
        return True
    later = rules.next_moment(session, call.phone_number, organization, now, live=call.live)
    if later is not None:
        _postpone(session, call, later, now)
        return True
    return False


def _begun_before(attempt: CallAttempt) -> Claim:
    if attempt.status not in ACTIVE:
        return Claim(ClaimKind.DONE, attempt.carrier)
    answered = attempt.carrier_reference is not None
    return Claim(ClaimKind.FOLLOW if answered else ClaimKind.RESOLVE, attempt.carrier)


def _under_way(session: Session, organization_id: UUID) -> int:
    query = (
        select(func.count())
        .select_from(Call)
        .where(Call.organization_id == organization_id, Call.status.in_(ACTIVE))
    )
    return session.scalar(query) or 0


def _begin_attempt(session: Session, call: Call, attempt_id: UUID, now: datetime) -> Placement:
    number = session.scalar(
        select(func.coalesce(func.max(CallAttempt.number), 0)).where(CallAttempt.call_id == call.id)
    )
    from_number = session.get_one(Agent, call.agent_id).phone_number or ""
    session.add(
        CallAttempt(
            id=attempt_id,
            organization_id=call.organization_id,
            call_id=call.id,
            number=(number or 0) + 1,
            carrier=call.carrier,
            status=CallStatus.DIALING,
            started_at=now,
        )
    )
    call.status, call.next_attempt_at = CallStatus.DIALING, None
    call.started_at = call.started_at or now
    add_event(session, call, "dialing", CallStatus.DIALING, at=now, attempt_id=attempt_id)
    return Placement(
        attempt_id=attempt_id,
        to_number=call.phone_number,
        from_number=from_number,
        intro=call.intro_message or "",
        voicemail=call.voicemail_message or "",
    )


def _postpone(session: Session, call: Call, until: datetime, now: datetime) -> None:
    call.expires_at = until + (call.expires_at - (call.scheduled_for or call.created_at))
    call.status, call.scheduled_for = CallStatus.SCHEDULED, until
    add_event(session, call, f"scheduled:{until.isoformat()}", CallStatus.SCHEDULED, at=now)
    _enqueue(session, call, now, until)


def _enqueue(session: Session, call: Call, now: datetime, until: datetime | None = None) -> None:
    delay = max(timedelta(), until - now).total_seconds() if until is not None else None
    enqueue_call(
        session,
        call_id=call.id,
        attempt_id=new_id(),
        organization_id=call.organization_id,
        delay_seconds=delay,
    )


def _locked(session: Session, attempt_id: UUID) -> tuple[Call, CallAttempt]:
    call_id = session.scalars(select(CallAttempt.call_id).where(CallAttempt.id == attempt_id)).one()
    call = lock_call(session, call_id)
    return call, session.get_one(CallAttempt, attempt_id, populate_existing=True)
