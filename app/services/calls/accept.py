"""Accepting a call: every rule, the row and its place in the queue.

Everything is written in one transaction, or nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from app.config.calls import CallSettings
from app.enums import CallSource, CallStatus, CarrierKind
from app.errors import Conflict, ValidationFailed, translate_stored
from app.languages import DEFAULT, using_language
from app.models import Assistant, Call, new_id, utcnow
from app.policy.caller import Caller
from app.services import assistants, audit, carrier_accounts, idempotency, pauses, spending
from app.services.calls import events, lifecycle, limits, rules, states, trial
from app.services.calls.queries import visible
from app.services.calls.request import CallRequest, CallTexts, messaging_problems, texts_of
from app.services.phone_numbers import NumberRoute
from app.services.spending.reserving import SpendingStop
from app.telemetry.context import set_context

OPERATION = "outbound.call"
DEFAULTS = CallSettings()


@dataclass(frozen=True, slots=True)
class CallScheduled:
    """The result of an accepted call; ``replayed`` if it is that of an earlier request."""

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
    settings: CallSettings = DEFAULTS,
    *,
    source: CallSource,
    live: bool,
    idempotency_key: str | None = None,
    campaign_id: UUID | None = None,
    contact_id: UUID | None = None,
    after: UUID | None = None,
) -> CallScheduled:
    """Accept a call and queue it for the worker, or raise and change nothing.

    A call that is not ``live`` always uses the simulated carrier. The answer says if the call waits
    for other calls; a campaign schedules only calls that don't wait. If a spending limit has no
    room for the longest call, a campaign's call waits; any other waits or is refused. With
    ``idempotency_key`` the caller needs a credential (``subject_id``). ``after`` is the id of the
    call that a user calls again; it is kept if that is a call of the same organization to the same
    number.

    Raises `ValidationFailed` (codes of the messages, ``number_not_allowed``,
    ``invalid_idempotency_key``), `NotFound` (``agent_not_found``), `Forbidden`
    (``organization_suspended``, ``trial_mode``), `Conflict` (``agent_inactive``,
    ``agent_phone_not_ready``, ``do_not_contact``, ``consent_missing``, ``spend_cap_reached``,
    ``idempotency_conflict``, ``idempotency_in_progress``).
    """
    slot = None
    if idempotency_key is not None and caller.subject_id is not None:
        claimed = idempotency.claim(
            session, caller.subject_id, OPERATION, idempotency_key, request.as_dict()
        )
        if not isinstance(claimed, idempotency.IdempotencySlot):
            return _replayed_result(claimed)
        slot = claimed
    now = utcnow()
    admitted = _CallCheck(
        session,
        caller,
        request,
        now,
        settings,
        live=live,
        source=source,
    ).accepted()
    if admitted.in_trial:
        trial.count_call(session, admitted.assistant, settings.trial_limits)
    assistant, texts, starts_at = admitted.assistant, admitted.texts, admitted.starts_at
    call = Call(
        id=new_id(),
        partner_id=assistant.partner_id,
        organization_id=assistant.organization_id,
        assistant_id=assistant.id,
        campaign_id=campaign_id,
        contact_id=contact_id,
        source=source,
        live=live,
        carrier=admitted.carrier,
        account_id=admitted.account_id,
        credential_id=caller.subject_id,
        requested_by=caller.label[:200],
        after_call_id=_find_earlier(session, caller, assistant, request, after) if after else None,
        phone_number=request.phone_number,
        contact=request.contact,
        call_metadata=dict(request.metadata),
        intro_message=texts.intro,
        voicemail_message=texts.voicemail,
        call_instructions=texts.instructions,
        status_detail=admitted.reason,
        created_at=now,
        scheduled_for=starts_at,
        expires_at=(starts_at or now) + timedelta(hours=settings.expiry_hours),
    )
    states.move(call, states.ACCEPT, admitted.status)
    session.add(call)
    session.flush()
    set_context(call_id=call.id)
    _enqueue(session, call, now)
    scheduled = CallScheduled(call.id, call.status, admitted.message)
    _write_history(session, caller, call)
    if slot is not None:
        idempotency.store_answer(session, slot, scheduled.as_dict())
    return scheduled


def dry_run(
    session: Session,
    caller: Caller,
    request: CallRequest,
    settings: CallSettings = DEFAULTS,
    *,
    live: bool,
) -> tuple[CallStatus, str]:
    """Return the status and the message with which `schedule` would accept the call now, without
    writing anything. Raises the same errors."""
    admitted = _CallCheck(
        session,
        caller,
        request,
        utcnow(),
        settings,
        live=live,
        source=CallSource.API,
    ).accepted()
    return admitted.status, admitted.message


def _find_earlier(
    session: Session, caller: Caller, assistant: Assistant, request: CallRequest, call_id: UUID
) -> UUID | None:
    rows = visible(caller).where(
        Call.id == call_id,
        Call.organization_id == assistant.organization_id,
        Call.phone_number == request.phone_number,
    )
    return session.scalar(rows.with_only_columns(Call.id))


@dataclass(frozen=True, slots=True)
class _AcceptedCall:
    """A call that no rule stops, its carrier, and what it waits for: ``starts_at`` if the time is
    known, ``reason`` is None if it may start at once."""

    assistant: Assistant
    texts: CallTexts
    carrier: CarrierKind
    account_id: UUID | None
    starts_at: datetime | None
    reason: str | None
    in_trial: bool
    """Whether it counts as one of the day's calls in trial mode."""

    @property
    def status(self) -> CallStatus:
        return CallStatus.QUEUED if self.starts_at is None else CallStatus.SCHEDULED

    @property
    def message(self) -> str:
        """Return the response's ``message``."""
        if self.reason is None:
            return "The call is queued and will be placed shortly."
        if self.starts_at is None:
            return f"The call is queued and waits. {self.reason}"
        moment = self.starts_at.strftime("%Y-%m-%d %H:%M UTC")
        when = f"{moment}, the next moment at which it is allowed"
        return f"The call is scheduled for {when}. {self.reason}"


@dataclass(frozen=True, slots=True)
class _CallCheck:
    """The check of a requested call by every rule; nothing is written."""

    session: Session
    caller: Caller
    request: CallRequest
    now: datetime
    settings: CallSettings
    live: bool
    source: CallSource

    def accepted(self) -> _AcceptedCall:
        """Return the accepted call. Raises as `schedule`."""
        assistant = _load_assistant(self.session, self.caller, self.request)
        parties = rules.parties_of(self.session, assistant.id, self.request.phone_number)
        route = self._route(assistant)
        in_trial = self._refuse_blocked(parties, route)
        texts = texts_of(self.request, assistant)
        wait = self._limit_wait(parties, route)
        return _AcceptedCall(
            assistant=assistant,
            texts=texts,
            carrier=route.carrier,
            account_id=route.account_id,
            starts_at=wait.until if wait else None,
            reason=wait.reason if wait else self._reason_to_queue(parties, route),
            in_trial=in_trial,
        )

    def _route(self, assistant: Assistant) -> NumberRoute:
        account = carrier_accounts.of_call(self.session, assistant, live=self.live)
        if account is not None:
            return NumberRoute(account.carrier, account.id)
        return NumberRoute(self.settings.carrier if self.live else CarrierKind.SIMULATOR)

    def _refuse_blocked(self, parties: rules.CallParties, route: NumberRoute) -> bool:
        """Raise the first rule that the call breaks. Return whether it counts as one of the day's
        calls in trial mode."""
        bound = rules.is_bound_by_trial(self.source, live=self.live)
        phone_number = self.request.phone_number
        for blocker in rules.blockers(parties, phone_number, route, bound_by_trial=bound):
            raise blocker.error()
        in_trial = bound and parties.in_trial
        if in_trial:
            trial_limits = self.settings.trial_limits
            used_up = trial.day_used_up(self.session, parties.assistant, trial_limits)
            if used_up:
                raise used_up.error()
        return in_trial

    def _limit_wait(
        self, parties: rules.CallParties, route: NumberRoute
    ) -> limits.LimitWait | None:
        """Return the limit for which the call waits longest, if any. Raises `Conflict`
        (``spend_cap_reached``)."""
        with using_language(DEFAULT):  # the call stores why it waits
            wait = limits.find_wait(
                self.session,
                self.request.phone_number,
                parties.organization,
                self.now,
                live=self.live,
            )
            stop = self._spending_stop(parties, route)
        if stop is None:
            return wait
        if not stop.waits and self.source is not CallSource.CAMPAIGN:
            raise Conflict(translate_stored(stop.reason), spending.REACHED)
        if not stop.frees_up and (wait is None or wait.until < stop.until):
            return limits.LimitWait(stop.until, stop.reason)
        return wait

    def _spending_stop(self, parties: rules.CallParties, route: NumberRoute) -> SpendingStop | None:
        is_free_test = self.source is CallSource.TEST and route.carrier is CarrierKind.SIMULATOR
        if not self.live or is_free_test:
            return None
        api_key_id = self.caller.subject_id if self.source is CallSource.API else None
        organization = parties.organization
        spender = spending.Spender(organization.partner_id, organization.id, api_key_id)
        return spending.check(
            self.session,
            spender,
            self.request.phone_number,
            self.now,
            max_call_minutes=self.settings.max_call_minutes,
        )

    def _reason_to_queue(self, parties: rules.CallParties, route: NumberRoute) -> str | None:
        """Return why a call that no limit delays can't start at once, if it can't."""
        organization = parties.organization
        at_once = None if self.source is CallSource.CAMPAIGN else self.settings.calls_at_once
        pause = pauses.of_carrier(
            self.session, organization.partner_id, organization.id, route.carrier
        )
        with using_language(DEFAULT):
            if pause is not None:
                return pauses.pause_message(pause)
            return limits.no_free_slot(self.session, organization, at_once, live=self.live)


def _load_assistant(session: Session, caller: Caller, request: CallRequest) -> Assistant:
    """Return the assistant. Problems of the messages that don't depend on the assistant are raised
    first."""
    problems = messaging_problems(request, None)
    if problems and problems[0].code != "messaging_required":
        raise ValidationFailed.of(*problems)
    return assistants.get(session, caller, request.assistant_id)


def _enqueue(session: Session, call: Call, now: datetime) -> None:
    events.add_timeline_entry(session, call, "accepted", call.status, at=now)
    delay = 0.0
    if call.scheduled_for is not None:
        until = call.scheduled_for.isoformat()
        events.add_timeline_entry(
            session, call, f"scheduled:{until}", call.status, at=now, detail=until
        )
        delay = (call.scheduled_for - now).total_seconds()
    lifecycle.enqueue(session, call, delay_seconds=delay)


def _write_history(session: Session, caller: Caller, call: Call) -> None:
    audit.record_change(
        session,
        caller,
        "call.scheduled",
        call,
        after={"source": call.source, "live": call.live, "agentId": call.assistant_id},
    )


def _replayed_result(stored: Mapping[str, Any]) -> CallScheduled:
    return CallScheduled(
        call_id=UUID(stored["callId"]),
        status=CallStatus(stored["status"]),
        message=stored["message"],
        replayed=True,
    )
