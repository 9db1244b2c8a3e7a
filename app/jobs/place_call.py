"""One dialling of a call as a durable workflow.

Each step may run twice: what it finds in the database decides what it does, and an attempt that
is found written is never dialled again.
"""

import logging
import time
from datetime import datetime, timedelta
from typing import Literal, NotRequired, TypedDict
from uuid import UUID

from dbos import DBOS

from app.enums import CarrierKind
from app.gateways.carriers.base import (
    Carrier,
    Inquiry,
    LineState,
    NoCarrierAnswer,
    Placement,
    PlacementPutOff,
    PlacementRejected,
    Verdict,
)
from app.gateways.job_queue import STATUS_TOPIC
from app.gateways.writers.base import Messages
from app.jobs.context import context
from app.jobs.gate import dialling
from app.jobs.outage import outlasts_outages
from app.models import utcnow
from app.services.calls import answers, dispatch, progress, putting_off
from app.services.calls.dispatch import Claim, ClaimKind

log = logging.getLogger(__name__)

CAP_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 60.0
POLL_SECONDS = 2.0
BRIEF_SECONDS = 0.5
"""Until a carrier that has just taken a request is asked what became of it."""
LEASE_SECONDS = 0.5
"""A request to the carrier leaves within this time of the attempt's commit, or not at all."""
LONGEST_CALL = timedelta(hours=5)
"""A call that a silent carrier took so long ago is over, whatever became of it."""


class Next(TypedDict):
    """What a step says is to be done next, and after how many seconds."""

    do: Literal["dial", "ask_again", "resolve", "follow", "stop"]
    seconds: float
    carrier: str
    was_asked: NotRequired[bool]
    """With "resolve": the carrier was asked for certain, and did not answer."""


STOP = Next(do="stop", seconds=0, carrier="")


def _after(
    seconds: float, do: Literal["dial", "ask_again", "follow"], carrier: CarrierKind
) -> Next:
    return Next(do=do, seconds=seconds, carrier=carrier.value)


def _resolve_after(seconds: float, carrier: CarrierKind, *, was_asked: bool = False) -> Next:
    return Next(do="resolve", seconds=seconds, carrier=carrier.value, was_asked=was_asked)


@DBOS.workflow(name="place_call")
def place_call(call_id: str, attempt_id: str) -> None:
    """Dials once and stays with the call until the attempt is over."""
    try:
        _run(call_id, attempt_id)
    except Exception:
        log.exception("a call could not be carried on")
        give_up(call_id, attempt_id)


def _run(call_id: str, attempt_id: str) -> None:
    step = dial(call_id, attempt_id)
    while step["do"] != "stop":
        if step["seconds"] > 0:
            DBOS.recv(STATUS_TOPIC, timeout_seconds=step["seconds"])
        match step["do"]:
            case "dial":
                step = dial(call_id, attempt_id)
            case "ask_again":
                step = ask_again(attempt_id)
            case "resolve":
                step = resolve(attempt_id, step["carrier"], was_asked=step.get("was_asked", False))
            case _:
                step = follow(attempt_id, step["carrier"])


@DBOS.step(name="dial")
@outlasts_outages
def dial(call_id: str, attempt_id: str) -> Next:
    """Claims the call and asks the carrier; an attempt of before is only asked about."""
    step = _claim_and_ask(UUID(call_id), UUID(attempt_id))
    if step is not None:
        return step
    with context().note_database.transaction(read_only=True) as session:
        brief = dispatch.writing_brief(session, UUID(call_id))
    messages = context().writer.compose(brief)
    return _claim_and_ask(UUID(call_id), UUID(attempt_id), messages) or STOP


def _claim_and_ask(
    call_id: UUID, attempt_id: UUID, messages: Messages | None = None
) -> Next | None:
    """What is to be done next; None where the messages must be written first."""
    with dialling:
        with context().database.transaction() as session:
            claim = dispatch.claim(
                session,
                call_id,
                attempt_id,
                messages=messages,
                calls_at_once=context().settings.calls_per_organization,
                carrier_calls_per_second=context().settings.carrier_calls_per_second,
            )
        return _carry_out(claim)


@DBOS.step(name="ask_again")
@outlasts_outages
def ask_again(attempt_id: str) -> Next:
    """Asks the carrier again for an attempt that it put off."""
    with dialling:
        with context().database.transaction() as session:
            claim = putting_off.claim_again(session, UUID(attempt_id))
        return _carry_out(claim) or STOP


def _carry_out(claim: Claim) -> Next | None:
    """Does what was just committed; None where the messages must be written first."""
    committed = time.monotonic()
    if claim.placement is not None:
        placement = claim.placement
        carrier = context().lines.of(claim.carrier, placement.account_id)
        return _ask_once(carrier, placement, committed)
    return _wait_for(claim)


def _wait_for(claim: Claim) -> Next | None:
    match claim.kind:
        case ClaimKind.WRITE:
            return None
        case ClaimKind.WAIT:
            seconds = _seconds_until(claim.until) if claim.until else CAP_WAIT_SECONDS
            return _after(min(seconds, CAP_WAIT_SECONDS), "dial", claim.carrier)
        case ClaimKind.ASK_AGAIN:
            return _after(_seconds_until(claim.until), "ask_again", claim.carrier)
        case ClaimKind.RESOLVE:
            return _resolve_after(0, claim.carrier)
        case ClaimKind.FOLLOW:
            return _after(0, "follow", claim.carrier)
        case _:
            return STOP


def _ask_once(carrier: Carrier, placement: Placement, committed: float) -> Next:
    # A process that was held up here may have been taken for dead and its call asked about.
    if time.monotonic() - committed > LEASE_SECONDS:
        return _resolve_after(0, carrier.kind)
    database, attempt_id = context().note_database, placement.attempt_id
    try:
        state = carrier.place(placement)
    except PlacementRejected as refusal:
        with database.transaction() as session:
            answers.refused(session, attempt_id, refusal.reason, str(refusal))
        return STOP
    except PlacementPutOff as refusal:
        with database.transaction() as session:
            putting_off.put_off(session, attempt_id, refusal.seconds, str(refusal))
        return _after(min(refusal.seconds, LONGEST_WAIT_SECONDS), "ask_again", carrier.kind)
    except NoCarrierAnswer as silence:
        log.warning("the carrier gave no answer to a call (%s); asking what became of it", silence)
        return _resolve_after(BRIEF_SECONDS, carrier.kind, was_asked=True)
    with database.transaction() as session:
        answers.placed(session, attempt_id, state.reference or str(attempt_id))
    return _after(_seconds_until(state.next_change), "follow", carrier.kind)


@DBOS.step(name="resolve")
@outlasts_outages
def resolve(attempt_id: str, carrier_kind: str, *, was_asked: bool) -> Next:
    """Finds out from the carrier what became of an attempt whose answer is not known."""
    attempt, database = UUID(attempt_id), context().note_database
    with database.transaction(read_only=True) as session:
        inquiry = progress.inquiry(session, attempt)
    if inquiry is None:
        return STOP
    carrier = context().lines.of(CarrierKind(carrier_kind), inquiry.account_id)
    if inquiry.reference is not None:
        return _after(0, "follow", carrier.kind)
    asked_at = utcnow()
    wait = (inquiry.asked_at + timedelta(seconds=LEASE_SECONDS) - asked_at).total_seconds()
    if wait > 0:
        return _resolve_after(wait, carrier.kind, was_asked=was_asked)
    try:
        verdict = _found(attempt, carrier.look_up(inquiry))
    except NoCarrierAnswer:
        verdict = Verdict.UNSURE
    if verdict is Verdict.PLACED:
        return _after(0, "follow", carrier.kind)
    # What counts is when it was asked: a call may come to light while the answer is on its way.
    patience = carrier.settle_seconds if verdict is Verdict.NOT_PLACED else carrier.silence_seconds
    wait = patience + LEASE_SECONDS - (asked_at - inquiry.asked_at).total_seconds()
    if wait > 0:
        return _resolve_after(min(wait, POLL_SECONDS), carrier.kind, was_asked=was_asked)
    with database.transaction() as session:
        if verdict is Verdict.NOT_PLACED:
            answers.never_placed(session, attempt, was_asked=was_asked)
        else:
            answers.unknown(session, attempt)
    return STOP


def _found(attempt: UUID, state: LineState) -> Verdict:
    if state.verdict is Verdict.PLACED:
        with context().note_database.transaction() as session:
            progress.apply(session, attempt, state)
    return state.verdict


@DBOS.step(name="follow")
@outlasts_outages
def follow(attempt_id: str, carrier_kind: str) -> Next:
    """Writes what happened on the line since the last look, and ends the call if that is asked."""
    attempt, database = UUID(attempt_id), context().note_database
    with database.transaction(read_only=True) as session:
        inquiry = progress.inquiry(session, attempt)
    if inquiry is None:
        return STOP
    carrier = context().lines.of(CarrierKind(carrier_kind), inquiry.account_id)
    try:
        state = carrier.look_up(inquiry)
        with database.transaction() as session:
            standing = progress.apply(session, attempt, state)
        if standing.hang_up:
            return _hang_up(carrier, inquiry)
    except NoCarrierAnswer as silence:
        if utcnow() - inquiry.asked_at > LONGEST_CALL:
            with database.transaction() as session:
                answers.unknown(session, attempt)
            return STOP
        log.warning("the carrier does not answer (%s); asking again", silence)
        return _after(POLL_SECONDS, "follow", carrier.kind)
    if standing.over:
        return STOP
    return _after(_seconds_until(state.next_change), "follow", carrier.kind)


def _hang_up(carrier: Carrier, inquiry: Inquiry) -> Next:
    """Ends the call at the carrier, asking until it is over."""
    database, attempt = context().database, inquiry.attempt_id
    with database.transaction() as session:
        is_first = progress.begin_hang_up(session, attempt)
    if is_first is None:
        return _after(0, "follow", carrier.kind)
    hung_up = carrier.hang_up(inquiry)
    state = carrier.look_up(inquiry)
    with database.transaction() as session:
        if is_first and not hung_up:
            progress.nothing_to_hang_up(session, attempt, state)
        standing = progress.apply(session, attempt, state)
    return STOP if standing.over else _after(POLL_SECONDS, "follow", carrier.kind)


@DBOS.step(name="give_up")
@outlasts_outages
def give_up(call_id: str, attempt_id: str) -> None:
    """Leaves a call that can't be carried on in a state that a person is shown."""
    with context().note_database.transaction() as session:
        answers.give_up(session, UUID(call_id), UUID(attempt_id))


def _seconds_until(moment: datetime | None) -> float:
    if moment is None:
        return POLL_SECONDS
    seconds = (moment - utcnow()).total_seconds()
    return min(max(seconds, 0.01), LONGEST_WAIT_SECONDS)
