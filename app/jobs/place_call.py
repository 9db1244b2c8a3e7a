"""One attempt of a call as a durable workflow.

The engine stores no progress of it: each step may be repeated, the state in our own tables decides
what it does, and an attempt that is found there is never placed again. After a kill the workflow
starts from its beginning.
"""

import logging
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from threading import Event
from typing import Literal
from uuid import UUID

from dbos import DBOS
from sqlalchemy.orm import Session

from app.enums import CarrierKind
from app.gateways.carriers.base import (
    AttemptInquiry,
    CallPlacement,
    Carrier,
    CarrierReport,
    NoCarrierAnswer,
    PlacementDelayed,
    PlacementRejected,
    PlacementVerdict,
)
from app.gateways.public_addresses import HostRefused, PrivateAddress, resolve_addresses
from app.gateways.writers.base import WrittenMessages
from app.jobs.context import context
from app.jobs.observed import observe_job
from app.jobs.resilience import calls_gate, retry_on_database_outage
from app.languages import capitalized
from app.models import utcnow
from app.services.calls import attempts, carrier_reports, claims, silence
from app.services.calls.carrier_reports import ReportOutcome
from app.services.calls.claims import CallClaim, ClaimKind, HostLookup
from app.services.recordings import samples

log = logging.getLogger(__name__)

LIMIT_WAIT_SECONDS = 1.0
MAX_WAIT_SECONDS = 60.0
POLL_SECONDS = 2.0
MAX_SILENCE_SECONDS = 30.0
"""Maximum seconds between two queries of a carrier that doesn't answer; the pause doubles up to
this."""
BRIEF_SECONDS = 0.5
"""Seconds before a carrier that has just accepted a request is queried about it."""
LEASE_SECONDS = 0.5
"""A request to the carrier is sent within this time of the attempt's commit, or not at all."""
HOST_SECONDS = 10.0
"""Seconds before a host that calls are handed over to is looked up again."""
LOOKUP_SECONDS = 4.0
TRIES = 2
STRAY_TRIES = 10
STRAY_PAUSE_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class NextStep:
    """The next step, and its delay in seconds unless a signal comes first. ``is_silent`` if the
    carrier's silence is the reason of the delay."""

    do: Literal["dial", "retry", "resolve", "follow"]
    seconds: float
    carrier: CarrierKind
    is_silent: bool = False


@DBOS.workflow(name="place_call")
@observe_job
def place_call(call_id: str, attempt_id: str) -> None:
    """Dial once and follow the call until the attempt is over. After an unexpected error it starts
    from its beginning, once."""
    call, attempt = UUID(call_id), UUID(attempt_id)
    for _ in range(TRIES):
        try:
            with context().signals.of(attempt) as signaled:
                return _run(call, attempt, signaled)
        except Exception:
            log.exception("a call could not be carried on")
    return give_up(call, attempt)


def _run(call_id: UUID, attempt_id: UUID, signaled: Event) -> None:
    begun_at, silent_since = utcnow(), None
    step = dial(call_id, attempt_id)
    while step is not None:
        pause = step.seconds if step.is_silent else 0.0
        silent_since = (silent_since or utcnow()) if step.is_silent else None
        if silent_since is not None and hand_over_silent_call(attempt_id, silent_since):
            return
        if step.seconds > 0:
            if signaled.wait(step.seconds):
                pause = 0.0
            signaled.clear()
        match step.do:
            case "dial":
                step = dial(call_id, attempt_id)
            case "retry":
                step = retry_attempt(attempt_id)
            case "resolve":
                step = resolve(attempt_id, step.carrier, begun_at)
            case _:
                step = follow(attempt_id, step.carrier, pause)


@retry_on_database_outage
def dial(call_id: UUID, attempt_id: UUID) -> NextStep | None:
    """Claim the call and have the carrier dial; an existing attempt is only queried.

    External data for a claim is fetched between two claims.
    """
    messages: WrittenMessages | None = None
    host_lookup: HostLookup | None = None
    while True:
        with calls_gate:
            with context().database.transaction() as session:
                claim = claims.next_step(
                    session,
                    call_id,
                    attempt_id,
                    messages=messages,
                    host_lookup=host_lookup,
                    calls_at_once=context().settings.calls_per_organization,
                    carrier_calls_per_second=context().settings.carrier_calls_per_second,
                    secret_keys=context().settings.secret_keys,
                    max_call_minutes=context().settings.longest_call_minutes,
                )
            if claim.kind not in {ClaimKind.WRITE, ClaimKind.LOOK_UP_HOST}:
                return _carry_out(claim)
        if claim.kind is ClaimKind.WRITE:
            messages = _compose_messages(call_id)
        else:
            host_lookup = look_up_host(claim.host)


def _compose_messages(call_id: UUID) -> WrittenMessages:
    with context().relaxed_database.transaction(read_only=True) as session:
        brief = claims.writing_brief(session, call_id)
    return context().writer.compose(brief)


@retry_on_database_outage
def retry_attempt(attempt_id: UUID) -> NextStep | None:
    """Send an attempt again that the carrier wanted later."""
    host_lookup: HostLookup | None = None
    while True:
        with calls_gate:
            with context().database.transaction() as session:
                claim = claims.claim_retry(
                    session,
                    attempt_id,
                    carrier_calls_per_second=context().settings.carrier_calls_per_second,
                    host_lookup=host_lookup,
                    secret_keys=context().settings.secret_keys,
                )
            if claim.kind is not ClaimKind.LOOK_UP_HOST:
                return _carry_out(claim)
        host_lookup = look_up_host(claim.host)


def look_up_host(host: str) -> HostLookup:
    """Return whether every IP address of the host is public, by DNS now or moments ago."""
    allow_private = context().settings.sip_allow_private
    return _look_up(host, allow_private, int(time.monotonic() / HOST_SECONDS))


@lru_cache(maxsize=256)
def _look_up(host: str, allow_private: bool, _period: int) -> HostLookup:
    """``_period`` changes every `HOST_SECONDS`: an earlier result is no longer found then."""
    try:
        resolve_addresses(
            host, 0, seconds=LOOKUP_SECONDS, allow_private=allow_private, for_calls=True
        )
    except HostRefused as reason:
        message = f"{capitalized(str(reason))}."
        return HostLookup(host, message, is_permanent=isinstance(reason, PrivateAddress))
    return HostLookup(host)


def _carry_out(claim: CallClaim) -> NextStep | None:
    committed = time.monotonic()
    if claim.placement is not None:
        placement = claim.placement
        carrier = context().carriers.of(claim.carrier, placement.account_id)
        return _place_once(carrier, placement, committed)
    return _wait_for(claim)


def _wait_for(claim: CallClaim) -> NextStep | None:
    match claim.kind:
        case ClaimKind.WAIT:
            seconds = _seconds_until(claim.until) if claim.until else LIMIT_WAIT_SECONDS
            return NextStep("dial", min(seconds, LIMIT_WAIT_SECONDS), claim.carrier)
        case ClaimKind.RETRY:
            return NextStep("retry", _seconds_until(claim.until), claim.carrier)
        case ClaimKind.RESOLVE:
            return NextStep("resolve", 0, claim.carrier)
        case ClaimKind.FOLLOW:
            return NextStep("follow", 0, claim.carrier)
        case _:
            return None


def _place_once(carrier: Carrier, placement: CallPlacement, committed: float) -> NextStep | None:
    # A delayed process may have been declared dead and its call taken over.
    if time.monotonic() - committed > LEASE_SECONDS:
        return NextStep("resolve", 0, carrier.kind)
    database, attempt_id = context().relaxed_database, placement.attempt_id
    try:
        state = carrier.place(placement)
    except PlacementRejected as refusal:
        with database.transaction() as session:
            attempts.record_refusal(session, attempt_id, refusal.reason, str(refusal))
        return None
    except PlacementDelayed as refusal:
        with database.transaction() as session:
            attempts.record_carrier_retry(session, attempt_id, refusal.seconds, str(refusal))
        return NextStep("retry", min(refusal.seconds, MAX_WAIT_SECONDS), carrier.kind)
    except NoCarrierAnswer as failure:
        log.warning("the carrier gave no answer to a call (%s); asking what became of it", failure)
        with database.transaction() as session:
            attempts.record_no_answer(session, attempt_id)
        return NextStep("resolve", BRIEF_SECONDS, carrier.kind)
    with database.transaction() as session:
        attempts.record_placed(session, attempt_id, state.reference or str(attempt_id))
    return NextStep("follow", _seconds_until(state.next_change), carrier.kind)


@retry_on_database_outage
def resolve(attempt_id: UUID, carrier_kind: CarrierKind, begun_at: datetime) -> NextStep | None:
    """Query the carrier for an attempt whose answer is not known.

    It becomes unknown after a silence of the carrier, counted from the attempt, or from
    ``begun_at`` if this process took it over.
    """
    database = context().relaxed_database
    with database.transaction(read_only=True) as session:
        inquiry = carrier_reports.inquiry(session, attempt_id)
    if inquiry is None:
        return None
    carrier = context().carriers.of(carrier_kind, inquiry.account_id)
    if inquiry.reference is not None:
        return NextStep("follow", 0, carrier_kind)
    asked_at = utcnow()
    wait = (inquiry.asked_at + timedelta(seconds=LEASE_SECONDS) - asked_at).total_seconds()
    if wait > 0:
        return NextStep("resolve", wait, carrier_kind)
    try:
        verdict = _apply_if_placed(attempt_id, carrier.look_up(inquiry))
    except NoCarrierAnswer:
        verdict = PlacementVerdict.UNSURE
    if verdict is PlacementVerdict.PLACED:
        return NextStep("follow", 0, carrier_kind)
    since, patience = inquiry.asked_at, carrier.settle_seconds
    if verdict is not PlacementVerdict.NOT_PLACED:
        since, patience = max(since, begun_at), carrier.silence_seconds
    # Counted from the query: the call may appear while the answer is on its way.
    wait = patience + LEASE_SECONDS - (asked_at - since).total_seconds()
    if wait > 0:
        return NextStep("resolve", min(wait, POLL_SECONDS), carrier_kind)
    with database.transaction() as session:
        if verdict is PlacementVerdict.NOT_PLACED:
            attempts.record_never_placed(session, attempt_id)
        else:
            attempts.end_unknown(session, attempt_id)
    return None


def _apply_if_placed(attempt_id: UUID, state: CarrierReport) -> PlacementVerdict:
    """Write the report if the call was placed; return the carrier's verdict."""
    if state.verdict is PlacementVerdict.PLACED:
        with context().relaxed_database.transaction() as session:
            _apply_report(session, attempt_id, state)
    return state.verdict


def _apply_report(session: Session, attempt_id: UUID, state: CarrierReport) -> ReportOutcome:
    outcome = carrier_reports.apply(session, attempt_id, state)
    if outcome.is_over:
        samples.report_sample(session, attempt_id)
    return outcome


@retry_on_database_outage
def follow(attempt_id: UUID, carrier_kind: CarrierKind, last_pause: float = 0.0) -> NextStep | None:
    """Store the carrier's report, and hang up if the call was cancelled.

    A carrier that doesn't answer again, after a pause of ``last_pause`` seconds, gets a longer one.
    If the call must be over by then, it is unknown.
    """
    database = context().relaxed_database
    with database.transaction(read_only=True) as session:
        inquiry = carrier_reports.inquiry(session, attempt_id)
    if inquiry is None:
        return None
    carrier = context().carriers.of(carrier_kind, inquiry.account_id)
    try:
        state = carrier.look_up(inquiry)
        with database.transaction() as session:
            followed = _apply_report(session, attempt_id, state)
        if followed.hang_up:
            return _hang_up(carrier, inquiry)
    except NoCarrierAnswer as failure:
        longest = context().settings.longest_call_minutes
        with database.transaction() as session:
            if silence.end_if_over(session, attempt_id, longest):
                return None
        pause = min(max(POLL_SECONDS, 2 * last_pause), MAX_SILENCE_SECONDS)
        log.warning("the carrier does not answer (%s); asking again in %.0f s", failure, pause)
        return NextStep("follow", pause, carrier.kind, is_silent=True)
    if followed.is_over:
        return None
    return NextStep("follow", _seconds_until(state.next_change), carrier.kind)


@retry_on_database_outage
def hand_over_silent_call(attempt_id: UUID, silent_since: datetime) -> bool:
    """Hand a call over to `app.jobs.silent_calls` after some minutes without an answer about it, so
    that other calls of the organization can be placed. Return whether it did."""
    minutes = context().settings.silent_call_minutes
    if utcnow() - silent_since < timedelta(minutes=minutes):
        return False
    with context().database.transaction() as session:
        is_released = silence.release_slot(session, attempt_id, silent_since, minutes)
        if is_released:
            silence.enqueue_query(session, attempt_id, 0, silent_since)
    return is_released


def _hang_up(carrier: Carrier, inquiry: AttemptInquiry) -> NextStep | None:
    database, attempt = context().database, inquiry.attempt_id
    with database.transaction() as session:
        is_first = carrier_reports.start_hang_up(session, attempt)
    if is_first is None:
        return NextStep("follow", 0, carrier.kind)
    hung_up = carrier.hang_up(inquiry)
    state = carrier.look_up(inquiry)
    with database.transaction() as session:
        if is_first and not hung_up:
            carrier_reports.record_nothing_to_hang_up(session, attempt, state)
        followed = carrier_reports.apply(session, attempt, state)
    return None if followed.is_over else NextStep("follow", POLL_SECONDS, carrier.kind)


@retry_on_database_outage
def give_up(call_id: UUID, attempt_id: UUID) -> None:
    """End a call after an error that repeating didn't fix."""
    with context().relaxed_database.transaction() as session:
        attempts.give_up(session, call_id, attempt_id)


def _seconds_until(moment: datetime | None) -> float:
    if moment is None:
        return POLL_SECONDS
    seconds = (moment - utcnow()).total_seconds()
    return min(max(seconds, 0.01), MAX_WAIT_SECONDS)


@DBOS.workflow(name="end_stray_call")
@observe_job
def end_stray_call(attempt_id: str) -> None:
    """End a call that rings although its attempt was given up as never placed: query the carrier
    until it answers, for half a minute."""
    for _ in range(STRAY_TRIES):
        if end_stray(attempt_id):
            return
        DBOS.sleep(STRAY_PAUSE_SECONDS)


@DBOS.step(name="end")
@retry_on_database_outage
def end_stray(attempt_id: str) -> bool:
    """Return whether the carrier has answered."""
    with context().database.transaction(read_only=True) as session:
        kind, inquiry = carrier_reports.carrier_inquiry(session, UUID(attempt_id))
    log.warning("a call rings whose attempt was given up as never placed; ending it")
    try:
        context().carriers.of(kind, inquiry.account_id).hang_up(inquiry)
    except NoCarrierAnswer:
        return False
    return True
