"""From waiting to dialled: what the worker does in the database before it asks the carrier.

The order decides everything. `claim` writes the attempt; only when that is committed is the
carrier asked, once, with the attempt's id. An attempt that is found again after a crash is never
dialled: the carrier is asked what became of it, and what it says is recorded by `answers`.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from app.enums import CallStatus, CarrierKind, EndedReason, WebhookEvent
from app.gateways.carriers.base import Placement
from app.gateways.job_queue import enqueue_call
from app.gateways.writers.base import Brief, Messages
from app.models import Agent, Call, CallAttempt, Organization, Partner, new_id, utcnow
from app.services import carrier_accounts
from app.services.calls import limits, pace, rules, telling
from app.services.calls.outcome import end_call
from app.services.calls.states import ACTIVE, WAITING, lock_call, note
from app.services.dialler import pauses

EARLY = timedelta(minutes=1)
"""A turn that comes so long before the call's moment was meant for another one: the call has been
brought forward, has rung, and is tried again later."""


class ClaimKind(StrEnum):
    WRITE = "write"
    DIAL = "dial"
    RESOLVE = "resolve"
    FOLLOW = "follow"
    ASK_AGAIN = "ask-again"
    WAIT = "wait"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Claim:
    """What the worker is to do next with a call; ``placement`` comes with DIAL alone, ``until``
    with ASK_AGAIN, and with WAIT where the carrier's turn is known."""

    kind: ClaimKind
    carrier: CarrierKind
    placement: Placement | None = None
    until: datetime | None = None


def writing_brief(session: Session, call_id: UUID) -> Brief:
    """The facts for the message writer."""
    call, agent, organization_name, product_name = session.execute(
        select(Call, Agent, Organization.name, Partner.product_name)
        .join(Agent, Agent.id == Call.agent_id)
        .join(Organization, Organization.id == Call.organization_id)
        .join(Partner, Partner.id == Call.partner_id)
        .where(Call.id == call_id)
    ).one()
    return Brief(
        notes=call.call_instructions or "",
        contact_name=call.contact.get("firstName"),
        agent_name=agent.name,
        organization_name=organization_name,
        product_name=product_name,
        callback_number=agent.phone_number,
        converses=agent.voice_address is not None,
        metadata=call.call_metadata,
    )


def claim(
    session: Session,
    call_id: UUID,
    attempt_id: UUID,
    *,
    calls_at_once: int,
    carrier_calls_per_second: float = 0,
    messages: Messages | None = None,
) -> Claim:
    """Decides what happens to a call whose turn has come; writes the attempt where it is dialled.

    Everything that was checked when the call was accepted is checked again here. WRITE asks for
    ``messages``, made of the facts of `writing_brief`.
    """
    call = lock_call(session, call_id)
    if call.status not in WAITING:
        return begun_before(session, call, attempt_id)
    now = utcnow()
    carrier_accounts.choose_again(session, call)
    parties = rules.parties_of(session, call.agent_id, call.phone_number, lock=True)
    is_settled = _stopped_or_postponed(session, call, parties, now)
    traffic = _traffic(session, call, attempt_id)
    is_over = is_settled or traffic.is_begun
    if is_over or (traffic.is_paused and pauses.hold_where_paused(session, call)):
        return Claim(ClaimKind.DONE, call.carrier)
    lines = limits.lines_of(parties.organization, calls_at_once)
    if traffic.under_way >= lines:
        _queue_up(call, limits.no_line_free(lines))
        return Claim(ClaimKind.WAIT, call.carrier)
    if call.intro_message is None and messages is None:
        return Claim(ClaimKind.WRITE, call.carrier)
    if later := _another_turn(session, call, carrier_calls_per_second, now):
        return later
    if call.intro_message is None and messages is not None:
        call.intro_message, call.voicemail_message = messages.intro, messages.voicemail
    number = traffic.attempts + 1
    placement = _begin_attempt(session, call, parties.agent, attempt_id, number, now)
    return Claim(ClaimKind.DIAL, call.carrier, placement)


def _another_turn(session: Session, call: Call, per_second: float, now: datetime) -> Claim | None:
    """Takes the carrier's turn for a live call; says to wait where it is another's."""
    if not per_second or not call.live:
        return None
    at = pace.take_turn(session, call.carrier, per_second, now)
    if at is None:
        return None
    _queue_up(call, limits.CARRIER_PACE)
    return Claim(ClaimKind.WAIT, call.carrier, until=at)


def _queue_up(call: Call, why: str) -> None:
    """Its moment has come, and others are before it."""
    call.status, call.status_detail = CallStatus.QUEUED, why


class _Traffic(NamedTuple):
    """How busy the organization is, what was tried for the call, and whether dialling is paused."""

    under_way: int
    attempts: int
    is_begun: bool
    is_paused: bool


def under_way(session: Session, organization_id: UUID) -> int:
    """How many calls of the organization are being placed, ring or are spoken on."""
    return session.scalar(_under_way(organization_id)) or 0


def _under_way(organization_id: UUID) -> Select[int]:
    return select(func.count(Call.id)).where(
        Call.organization_id == organization_id, Call.status.in_(ACTIVE)
    )


def _traffic(session: Session, call: Call, attempt_id: UUID) -> _Traffic:
    attempts = select(func.coalesce(func.max(CallAttempt.number), 0)).where(
        CallAttempt.call_id == call.id
    )
    begun = select(CallAttempt.id).where(CallAttempt.id == attempt_id).exists()
    busy = _under_way(call.organization_id).scalar_subquery()
    facts = select(busy, attempts.scalar_subquery(), begun, pauses.is_covered(call))
    return _Traffic(*session.execute(facts).one())


def begun_before(session: Session, call: Call, attempt_id: UUID) -> Claim:
    attempt = session.get(CallAttempt, attempt_id, populate_existing=True)
    if attempt is None or attempt.status not in ACTIVE:
        return Claim(ClaimKind.DONE, call.carrier)
    if attempt.put_off_until is not None:
        return put_off_claim(attempt)
    answered = attempt.carrier_reference is not None
    return Claim(ClaimKind.FOLLOW if answered else ClaimKind.RESOLVE, attempt.carrier)


def put_off_claim(attempt: CallAttempt) -> Claim:
    return Claim(ClaimKind.ASK_AGAIN, attempt.carrier, until=attempt.put_off_until)


def blocker_of(session: Session, call: Call, parties: rules.Parties) -> rules.Blocker | None:
    broken = next(rules.blockers(parties, call.phone_number), None)
    return broken or rules.outreach_goes_on(session, call)


def _stopped_or_postponed(
    session: Session, call: Call, parties: rules.Parties, now: datetime
) -> bool:
    if now >= call.expires_at:
        detail = limits.waited_for(call.status_detail)
        end_call(session, call, CallStatus.EXPIRED, EndedReason.EXPIRED, at=now, detail=detail)
        return True
    if blocker := blocker_of(session, call, parties):
        end_call(session, call, CallStatus.CANCELED, blocker.reason, at=now, detail=blocker.message)
        return True
    due = call.next_attempt_at or call.scheduled_for
    if due is not None and due - now > EARLY:
        _come_back(session, call, due, now)
        return True
    organization = parties.organization
    wait = limits.next_moment(session, call.phone_number, organization, now, live=call.live)
    if wait is not None:
        postpone(session, call, wait.until, wait.why, now)
        return True
    return False


def _begin_attempt(
    session: Session, call: Call, agent: Agent, attempt_id: UUID, number: int, now: datetime
) -> Placement:
    session.add(
        CallAttempt(
            id=attempt_id,
            organization_id=call.organization_id,
            call_id=call.id,
            number=number,
            carrier=call.carrier,
            account_id=call.account_id,
            from_number=agent.phone_number,
            status=CallStatus.DIALING,
            started_at=now,
        )
    )
    call.status, call.status_detail, call.next_attempt_at = CallStatus.DIALING, None, None
    call.started_at = call.started_at or now
    note(session, call, "dialing", CallStatus.DIALING, at=now, attempt_id=attempt_id)
    if number == 1:
        telling.tell(session, call, WebhookEvent.CALL_STARTED)
    return placement_of(call, agent, attempt_id)


def placement_of(call: Call, agent: Agent, attempt_id: UUID) -> Placement:
    return Placement(
        attempt_id=attempt_id,
        to_number=call.phone_number,
        from_number=agent.phone_number or "",
        intro=call.intro_message or "",
        voicemail=call.voicemail_message or "",
        hand_over_to=agent.voice_address,
        account_id=call.account_id,
    )


def postpone(session: Session, call: Call, until: datetime, why: str | None, now: datetime) -> None:
    """Lets a call that waits, and is locked, wait until then; it is given that much longer to be
    placed."""
    call.status_detail = why
    call.expires_at = until + (call.expires_at - (call.scheduled_for or call.created_at))
    call.status, call.scheduled_for = CallStatus.SCHEDULED, until
    if call.next_attempt_at is not None:
        call.next_attempt_at = until
    moment = until.isoformat()
    # The same moment may come up again, where the engine woke the call a little early.
    kind = f"scheduled:{moment}:{now.isoformat()}"
    note(session, call, kind, CallStatus.SCHEDULED, at=now, detail=moment)
    _come_back(session, call, until, now)


def _come_back(session: Session, call: Call, at: datetime, now: datetime) -> None:
    enqueue_call(
        session,
        call_id=call.id,
        attempt_id=new_id(),
        organization_id=call.organization_id,
        delay_seconds=max(timedelta(), at - now).total_seconds(),
    )
