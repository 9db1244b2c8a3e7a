"""The worker's next step for a call whose turn has come, or for an attempt that is sent again.

`next_step` and `claim_retry` repeat the checks of the acceptance. Only a claim to dial
writes an attempt; `attempts` handles the carrier's answer to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.config.calls import MAX_CALL_MINUTES
from app.enums import CallSource, CallStatus, CarrierKind, EndedReason
from app.gateways.carriers.base import CallPlacement
from app.gateways.writers.base import MessageBrief, WrittenMessages
from app.models import Assistant, Call, CallAttempt, Organization, Partner, utcnow
from app.services import carrier_accounts, destinations, pauses, spending
from app.services.calls import carrier_pace, lifecycle, limits, rules
from app.services.calls.lifecycle import end_attempt, end_call
from app.services.calls.states import ACTIVE, WAITING, lock_attempt, lock_call
from app.services.verified_numbers import codes
from app.telemetry.context import set_context

EARLY = timedelta(minutes=1)
"""A turn that comes earlier than this before the call's time is obsolete: the call was moved to an
earlier time, has rung, and is retried later."""
NEXT_LOOKUP = timedelta(minutes=5)
"""Pause before a host that no DNS server knows is looked up again."""


class ClaimKind(StrEnum):
    WRITE = "write"
    LOOK_UP_HOST = "look-up-host"
    DIAL = "dial"
    RESOLVE = "resolve"
    FOLLOW = "follow"
    RETRY = "retry"
    WAIT = "wait"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class CallClaim:
    """The worker's next step for a call. ``placement`` comes with DIAL only, ``until`` with
    RETRY, and with WAIT if the carrier's next turn is known, ``host`` with LOOK_UP_HOST."""

    kind: ClaimKind
    carrier: CarrierKind
    placement: CallPlacement | None = None
    until: datetime | None = None
    host: str = ""


@dataclass(frozen=True, slots=True)
class HostLookup:
    """The result of a host's look-up: ``problem`` is a message, None if it is public.
    ``is_permanent``: looking again won't help."""

    host: str
    problem: str | None = None
    is_permanent: bool = True


def writing_brief(session: Session, call_id: UUID) -> MessageBrief:
    """Return the facts for the message writer."""
    call, assistant, organization_name, product_name = session.execute(
        select(Call, Assistant, Organization.name, Partner.product_name)
        .join(Assistant, Assistant.id == Call.assistant_id)
        .join(Organization, Organization.id == Call.organization_id)
        .join(Partner, Partner.id == Call.partner_id)
        .where(Call.id == call_id)
    ).one()
    return MessageBrief(
        notes=call.call_instructions or "",
        contact_name=call.contact.get("firstName"),
        assistant_name=assistant.name,
        organization_name=organization_name,
        product_name=product_name,
        callback_number=assistant.phone_number,
        converses=assistant.voice_address is not None,
        metadata=call.call_metadata,
    )


def next_step(
    session: Session,
    call_id: UUID,
    attempt_id: UUID,
    *,
    calls_at_once: int,
    carrier_calls_per_second: float = 0,
    max_call_minutes: int = MAX_CALL_MINUTES,
    messages: WrittenMessages | None = None,
    host_lookup: HostLookup | None = None,
    secret_keys: Sequence[str] = (),
) -> CallClaim:
    """Decide the next step of a call whose turn has come; DIAL has written the attempt.

    Every check of the acceptance is repeated, and the price of a call of ``max_call_minutes`` is
    reserved if there are spending limits. WRITE requires ``messages``, written from
    `writing_brief`; LOOK_UP_HOST requires the look-up of the host that the call is handed over to.
    Verification calls need ``secret_keys``.
    """
    call = lock_call(session, call_id)
    set_context(partner_id=call.partner_id, organization_id=call.organization_id)
    if call.status not in WAITING:
        return _claim_for_attempt(session, call, attempt_id)
    now = utcnow()
    carrier_accounts.choose_again(session, call)
    parties = rules.parties_of(session, call.assistant_id, call.phone_number, lock=True)
    is_settled = _stop_or_postpone(session, call, parties, now)
    traffic = _load_traffic(session, call, attempt_id)
    is_over = is_settled or traffic.is_begun
    if is_over or (traffic.is_paused and lifecycle.hold_if_paused(session, call)):
        return CallClaim(ClaimKind.DONE, call.carrier)
    limit = limits.calls_at_once(parties.organization, calls_at_once)
    if traffic.under_way >= limit:
        lifecycle.wait_for_turn(call, limits.all_slots_taken(limit))
        return CallClaim(ClaimKind.WAIT, call.carrier)
    if next_claim := _prepare(session, call, parties.assistant, messages, host_lookup, now):
        return next_claim
    reserved = _reserve_in_turn(session, call, carrier_calls_per_second, max_call_minutes, now)
    if isinstance(reserved, CallClaim):
        return reserved
    if call.intro_message is None and messages is not None:
        call.intro_message, call.voicemail_message = messages.intro, messages.voicemail
    number = traffic.attempts + 1
    lifecycle.begin_attempt(session, call, parties.assistant, attempt_id, number, now, reserved)
    placement = _placement_of(call, parties.assistant, attempt_id, secret_keys)
    return CallClaim(ClaimKind.DIAL, call.carrier, placement)


def _prepare(
    session: Session,
    call: Call,
    assistant: Assistant,
    messages: WrittenMessages | None,
    host_lookup: HostLookup | None,
    now: datetime,
) -> CallClaim | None:
    """Return what the call still needs from outside, or that it ends or waits because it can't be
    handed over; None if it is ready."""
    if call.intro_message is None and messages is None:
        return CallClaim(ClaimKind.WRITE, call.carrier)
    if host := _host_to_look_up(call, assistant, host_lookup):
        return CallClaim(ClaimKind.LOOK_UP_HOST, call.carrier, host=host)
    if host_lookup is None or host_lookup.problem is None:
        return None
    detail = rules.VOICE_ADDRESS_FAILED(reason_words=host_lookup.problem)
    if host_lookup.is_permanent:
        reason = EndedReason.ASSISTANT_INACTIVE
        end_call(session, call, CallStatus.CANCELED, reason, at=now, detail=detail)
    else:
        lifecycle.postpone(session, call, now + NEXT_LOOKUP, detail, now, moves_expiry=False)
    return CallClaim(ClaimKind.DONE, call.carrier)


def _reserve_in_turn(
    session: Session, call: Call, per_second: float, max_call_minutes: int, now: datetime
) -> spending.CallAmount | CallClaim:
    """Take the carrier's turn, and reserve the price of the call; without room for it, the turn is
    returned. The claim says what the call waits for, or that it is over."""
    if later := _wait_for_pace(session, call, per_second, now):
        return later
    reserved = _reserve(session, call, max_call_minutes, now)
    if isinstance(reserved, CallClaim) and per_second and call.live:
        carrier_pace.return_turn(session, call.carrier, now)
    return reserved


def _reserve(
    session: Session, call: Call, max_call_minutes: int, now: datetime
) -> spending.CallAmount | CallClaim:
    """Return what the call has reserved, or a claim that it waits or is over, because a spending
    limit leaves nothing to reserve."""
    if not call.is_charged:
        return spending.CallAmount(0, 0)
    reserved = spending.reserve(session, call, now, max_call_minutes=max_call_minutes)
    if isinstance(reserved, spending.CallAmount):
        return reserved
    if reserved.frees_up:
        lifecycle.wait_for_turn(call, reserved.reason)
        return CallClaim(ClaimKind.WAIT, call.carrier)
    if reserved.waits or call.source is CallSource.CAMPAIGN:
        lifecycle.postpone(session, call, reserved.until, reserved.reason, now)
    else:
        canceled = CallStatus.CANCELED, EndedReason.SPENDING_LIMIT_REACHED
        end_call(session, call, *canceled, at=now, detail=reserved.reason)
    return CallClaim(ClaimKind.DONE, call.carrier)


def _host_to_look_up(
    call: Call, assistant: Assistant, host_lookup: HostLookup | None
) -> str | None:
    """The host of the assistant's voice address, unless ``host_lookup`` is about it.
    The simulated carrier hands nothing over."""
    if assistant.voice_address is None or call.carrier is CarrierKind.SIMULATOR:
        return None
    if call.verifies_a_number:
        return None
    host = destinations.host_of(assistant.voice_address)
    return None if host_lookup is not None and host_lookup.host == host else host


def _wait_for_pace(
    session: Session, call: Call, per_second: float, now: datetime
) -> CallClaim | None:
    """Take the carrier's turn; return a claim to wait if another call has it."""
    next_turn_at = _take_turn(session, call, per_second, now)
    if next_turn_at is None:
        return None
    lifecycle.wait_for_turn(call, limits.CARRIER_PACE)
    return CallClaim(ClaimKind.WAIT, call.carrier, until=next_turn_at)


def _take_turn(session: Session, call: Call, per_second: float, now: datetime) -> datetime | None:
    """Take the carrier's turn for a live call; return when to try again if another call has it."""
    if not per_second or not call.live:
        return None
    return carrier_pace.take_turn(session, call.carrier, per_second, now)


class _ActiveTraffic(NamedTuple):
    """The organization's active calls of the call's kind (live or of a test key), the call's
    attempts, and whether calling is paused."""

    under_way: int
    attempts: int
    is_begun: bool
    is_paused: bool


def _load_traffic(session: Session, call: Call, attempt_id: UUID) -> _ActiveTraffic:
    attempts = select(func.coalesce(func.max(CallAttempt.number), 0)).where(
        CallAttempt.call_id == call.id
    )
    begun = select(CallAttempt.id).where(CallAttempt.id == attempt_id).exists()
    busy = limits.under_way(call.organization_id, live=call.live).scalar_subquery()
    query = select(busy, attempts.scalar_subquery(), begun, pauses.is_covered(call))
    return _ActiveTraffic(*session.execute(query).one())


def _claim_for_attempt(session: Session, call: Call, attempt_id: UUID) -> CallClaim:
    attempt = session.get(CallAttempt, attempt_id, populate_existing=True)
    if attempt is None or attempt.status not in ACTIVE:
        return CallClaim(ClaimKind.DONE, call.carrier)
    if attempt.carrier_retry_at is not None:
        return _claim_for_retry(attempt)
    is_placed = attempt.carrier_reference is not None
    return CallClaim(ClaimKind.FOLLOW if is_placed else ClaimKind.RESOLVE, attempt.carrier)


def _claim_for_retry(attempt: CallAttempt) -> CallClaim:
    return CallClaim(ClaimKind.RETRY, attempt.carrier, until=attempt.carrier_retry_at)


def _stop_or_postpone(
    session: Session, call: Call, parties: rules.CallParties, now: datetime
) -> bool:
    """End a call that has expired or may not be placed, or postpone it until it is due; return
    whether one of these happened."""
    if end := _find_end(session, call, parties, now):
        end_call(session, call, end.status, end.reason, at=now, detail=end.detail)
        return True
    due = call.next_attempt_at or call.scheduled_for
    if due is not None and due - now > EARLY:
        lifecycle.enqueue_at(session, call, due, now)
        return True
    wait = _find_wait(session, call, parties.organization, now)
    if wait is not None:
        lifecycle.postpone(session, call, wait.until, wait.reason, now)
        return True
    return False


def _find_wait(
    session: Session, call: Call, organization: Organization, now: datetime
) -> limits.LimitWait | None:
    plan = limits.plan_of(session, call)
    return limits.find_wait(
        session, call.phone_number, organization, now, live=call.live, plan=plan
    )


class _CallEnd(NamedTuple):
    """The end of a call that may not be placed."""

    status: CallStatus
    reason: EndedReason
    detail: str | None


def _find_end(
    session: Session, call: Call, parties: rules.CallParties, now: datetime
) -> _CallEnd | None:
    """Return the end of a call that has expired or that a rule stops; None if neither is so."""
    if now >= call.expires_at:
        detail = limits.waited_for(call.status_detail)
        return _CallEnd(CallStatus.EXPIRED, EndedReason.EXPIRED, detail)
    if blocker := rules.blocker_of(session, call, parties):
        return _CallEnd(CallStatus.CANCELED, blocker.reason, blocker.message)
    return None


def _placement_of(
    call: Call, assistant: Assistant, attempt_id: UUID, secret_keys: Sequence[str]
) -> CallPlacement:
    return CallPlacement(
        attempt_id=attempt_id,
        to_number=call.phone_number,
        from_number=assistant.phone_number or "",
        intro=codes.with_code(call.intro_message or "", call, secret_keys),
        voicemail=call.voicemail_message or "",
        hand_over_to=None if call.verifies_a_number else assistant.voice_address,
        account_id=call.account_id,
    )


def claim_retry(
    session: Session,
    attempt_id: UUID,
    *,
    carrier_calls_per_second: float = 0,
    host_lookup: HostLookup | None = None,
    secret_keys: Sequence[str] = (),
) -> CallClaim:
    """Decide the next step of an attempt that the carrier wanted later. It certainly wasn't placed,
    and every check is repeated, as in `next_step`: if hours, limits or the host of its voice
    address stop the call, it goes back to the queue, where `next_step` decides."""
    call, attempt = lock_attempt(session, attempt_id)
    if attempt.status not in ACTIVE or attempt.carrier_retry_at is None:
        return _claim_for_attempt(session, call, attempt_id)
    now = utcnow()
    if now < attempt.carrier_retry_at:
        return _claim_for_retry(attempt)
    carrier_accounts.choose_again(session, call)
    attempt.carrier, attempt.account_id = call.carrier, call.account_id
    parties = rules.parties_of(session, call.assistant_id, call.phone_number, lock=True)
    if next_claim := _prepare_retry(session, call, attempt, parties, host_lookup, now):
        return next_claim
    if next_turn_at := _take_turn(session, call, carrier_calls_per_second, now):
        return _delay(call, attempt, next_turn_at, limits.CARRIER_PACE)
    call.status_detail = call.next_attempt_at = None
    attempt.carrier_retry_at, attempt.asked_at = None, now
    attempt.from_number = parties.assistant.phone_number
    placement = _placement_of(call, parties.assistant, attempt_id, secret_keys)
    attempt.hand_over_to = placement.hand_over_to
    return CallClaim(ClaimKind.DIAL, call.carrier, placement)


def _prepare_retry(
    session: Session,
    call: Call,
    attempt: CallAttempt,
    parties: rules.CallParties,
    host_lookup: HostLookup | None,
    now: datetime,
) -> CallClaim | None:
    """Return that the attempt ends, waits or is replaced, or the host to look up first; None if it
    may be sent again."""
    if end := _find_end(session, call, parties, now):
        lifecycle.withdraw_start(call, attempt)
        end_attempt(session, call, attempt, end.status, end.reason, at=now, detail=end.detail)
        return CallClaim(ClaimKind.DONE, call.carrier)
    if pause := pauses.of_call(session, call):
        return _delay(call, attempt, now + pauses.RECHECK, pauses.pause_message(pause))
    wait = _find_wait(session, call, parties.organization, now)
    if wait is not None:
        return _requeue(session, call, attempt, wait.reason)
    if host := _host_to_look_up(call, parties.assistant, host_lookup):
        return CallClaim(ClaimKind.LOOK_UP_HOST, call.carrier, host=host)
    if host_lookup is not None and host_lookup.problem is not None:
        detail = rules.VOICE_ADDRESS_FAILED(reason_words=host_lookup.problem)
        return _requeue(session, call, attempt, detail)
    return None


def _delay(call: Call, attempt: CallAttempt, until: datetime, why: str) -> CallClaim:
    call.status_detail, call.next_attempt_at = why, None
    attempt.carrier_retry_at = until
    return _claim_for_retry(attempt)


def _requeue(session: Session, call: Call, attempt: CallAttempt, why: str) -> CallClaim:
    call.next_attempt_at = None
    lifecycle.requeue(session, call, attempt, EndedReason.CARRIER_ERROR, why)
    return CallClaim(ClaimKind.DONE, call.carrier)
