"""Accepting a call: every rule, the row and its place in the queue in one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import CallSource, CallStatus, CarrierKind
from app.errors import ValidationFailed
from app.gateways.job_queue import enqueue_call
from app.models import Agent, Call, new_id, utcnow
from app.policy.caller import Caller
from app.services import assistants, audit, carrier_accounts, idempotency
from app.services.calls import limits, rules
from app.services.calls.request import CallRequest, Texts, messaging_problems, texts_of
from app.services.calls.states import note
from app.services.dialler import pauses

OPERATION = "outbound.call"


@dataclass(frozen=True, slots=True)
class CallScheduled:
    """What is answered to an accepted call; ``replayed`` where it is the answer of before."""

    call_id: UUID
    status: CallStatus
    message: str
    replayed: bool = False

    def as_dict(self) -> dict[str, Any]:
        return {
            "success": True,
            "message": self.message,
            "callId": str(self.call_id),
            "status": self.status.value,
        }


def schedule(
    session: Session,
    caller: Caller,
    request: CallRequest,
    *,
    source: CallSource,
    live: bool,
    carrier: CarrierKind = CarrierKind.SIMULATOR,
    expiry_hours: int = 24,
    calls_at_once: int | None = None,
    idempotency_key: str | None = None,
    campaign_id: UUID | None = None,
    contact_id: UUID | None = None,
) -> CallScheduled:
    """Accepts a call and hands it to the worker, or raises and changes nothing.

    ``carrier`` is the installation's line, taken where neither organization nor partner has an
    account of its own; a call that is not ``live`` never leaves the simulated one.
    ``calls_at_once`` is the installation's limit for each organization: with it, a call that has
    to wait for others says so. With ``idempotency_key`` the caller needs a credential of its own
    (``subject_id``).

    Raises `ValidationFailed` (codes of the messages, ``number_not_allowed``,
    ``invalid_idempotency_key``), `NotFound` (``agent_not_found``), `Forbidden`
    (``organization_suspended``), `Conflict` (``agent_inactive``, ``agent_phone_not_ready``,
    ``do_not_contact``, ``consent_missing``, ``idempotency_conflict``, ``idempotency_in_progress``).
    """
    slot = None
    if idempotency_key is not None and caller.subject_id is not None:
        found = idempotency.claim(
            session, caller.subject_id, OPERATION, idempotency_key, request.as_dict()
        )
        if not isinstance(found, idempotency.Slot):
            return _replay(found)
        slot = found
    now = utcnow()
    admitted = _admit(session, caller, request, now, carrier, live=live, at_once=calls_at_once)
    agent, texts, starts_at = admitted.agent, admitted.texts, admitted.starts_at
    call = Call(
        id=new_id(),
        partner_id=agent.partner_id,
        organization_id=agent.organization_id,
        agent_id=agent.id,
        campaign_id=campaign_id,
        contact_id=contact_id,
        source=source,
        live=live,
        carrier=admitted.carrier,
        account_id=admitted.account_id,
        credential_id=caller.subject_id,
        requested_by=caller.label[:200],
        phone_number=request.phone_number,
        contact=request.contact,
        call_metadata=dict(request.metadata),
        intro_message=texts.intro,
        voicemail_message=texts.voicemail,
        call_instructions=texts.instructions,
        status=admitted.status,
        status_detail=admitted.why,
        created_at=now,
        scheduled_for=starts_at,
        expires_at=(starts_at or now) + timedelta(hours=expiry_hours),
    )
    session.add(call)
    session.flush()
    _hand_in(session, call, now)
    scheduled = CallScheduled(call.id, call.status, admitted.sentence)
    _write_history(session, caller, call)
    if slot is not None:
        idempotency.keep(session, slot, scheduled.as_dict())
    return scheduled


def rehearse(
    session: Session,
    caller: Caller,
    request: CallRequest,
    *,
    live: bool,
    carrier: CarrierKind = CarrierKind.SIMULATOR,
) -> tuple[CallStatus, str]:
    """The status and the sentence with which `schedule` would accept the call now; nothing is
    written. Raises as it does."""
    admitted = _admit(session, caller, request, utcnow(), carrier, live=live)
    return admitted.status, admitted.sentence


@dataclass(frozen=True, slots=True)
class _Admitted:
    """A call that no rule stops, the line that it goes out over, and what it waits for:
    ``starts_at`` where that is known, ``why`` None where it may begin at once."""

    agent: Agent
    texts: Texts
    carrier: CarrierKind
    account_id: UUID | None
    starts_at: datetime | None
    why: str | None

    @property
    def status(self) -> CallStatus:
        return CallStatus.QUEUED if self.starts_at is None else CallStatus.SCHEDULED

    @property
    def sentence(self) -> str:
        """The answer's ``message``."""
        if self.why is None:
            return "The call is queued and will be placed shortly."
        if self.starts_at is None:
            return f"The call is queued and waits. {self.why}"
        moment = self.starts_at.strftime("%Y-%m-%d %H:%M UTC")
        when = f"{moment}, the next moment at which it is allowed"
        return f"The call is scheduled for {when}. {self.why}"


def _admit(
    session: Session,
    caller: Caller,
    request: CallRequest,
    now: datetime,
    carrier: CarrierKind,
    *,
    live: bool,
    at_once: int | None = None,
) -> _Admitted:
    agent = _agent(session, caller, request)
    parties = rules.parties_of(session, agent.id, request.phone_number)
    for blocker in rules.blockers(parties, request.phone_number):
        raise blocker.error()
    texts = texts_of(request, agent)
    organization = parties.organization
    account = carrier_accounts.of_call(session, agent, live=live)
    if account is not None:
        carrier = account.carrier
    elif not live:
        carrier = CarrierKind.SIMULATOR
    account_id = account.id if account else None
    wait = limits.next_moment(session, request.phone_number, organization, now, live=live)
    if wait is not None:
        return _Admitted(agent, texts, carrier, account_id, wait.until, wait.why)
    pause = pauses.of_line(session, agent.partner_id, carrier)
    why = pauses.sentence(pause) if pause else limits.lines_taken(session, organization, at_once)
    return _Admitted(agent, texts, carrier, account_id, None, why)


def _agent(session: Session, caller: Caller, request: CallRequest) -> Agent:
    """The assistant; what is wrong with the messages whoever calls is said first."""
    problems = messaging_problems(request, None)
    if problems and problems[0].code != "messaging_required":
        raise ValidationFailed.of(*problems)
    return assistants.get(session, caller, request.agent_id)


def _hand_in(session: Session, call: Call, now: datetime) -> None:
    note(session, call, "accepted", call.status, at=now)
    delay = None
    if call.scheduled_for is not None:
        until = call.scheduled_for.isoformat()
        note(session, call, f"scheduled:{until}", call.status, at=now, detail=until)
        delay = (call.scheduled_for - now).total_seconds()
    enqueue_call(
        session,
        call_id=call.id,
        attempt_id=new_id(),
        organization_id=call.organization_id,
        delay_seconds=delay,
    )


def _write_history(session: Session, caller: Caller, call: Call) -> None:
    audit.record(
        session,
        caller,
        action="call.scheduled",
        target_type="call",
        target_id=call.id,
        partner_id=call.partner_id,
        organization_id=call.organization_id,
        target=call.phone_number,
        after={"source": call.source, "live": call.live, "agentId": call.agent_id},
    )


def _replay(stored: Mapping[str, Any]) -> CallScheduled:
    return CallScheduled(
        call_id=UUID(stored["callId"]),
        status=CallStatus(stored["status"]),
        message=stored["message"],
        replayed=True,
    )
