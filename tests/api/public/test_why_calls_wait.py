"""A call that waits says why, and until when where that is known: every reason, as a script reads
it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import time, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallStatus, CarrierKind, EndedReason, Tier
from app.models import Call, CallAttempt, Organization, PlanLimit, new_id, utcnow
from app.policy.caller import system_caller
from app.services import pauses
from app.services.calls import attempts, claims, lifecycle
from tests.api.public.conftest import NUMBER, Script
from tests.fixtures.clock import SetClock, set_clock
from tests.fixtures.databases import runs_on
from tests.fixtures.worker import CallingOrganization

NOW = "2026-06-10T15:00:00.000Z"
RETRY = "2026-06-10T15:30:00.000Z"
TOMORROW = "2026-06-11T00:00:00.000Z"


@dataclass
class WaitingCalls:
    """An organization whose calls are made to wait."""

    session: Session
    calling_organization: CallingOrganization
    clock: SetClock

    def set(self, **settings: Any) -> None:
        organization = self.session.get_one(Organization, self.calling_organization.organization_id)
        for name, value in settings.items():
            setattr(organization, name, value)
        self.session.flush()

    def ask(self, number: str = NUMBER) -> UUID:
        return self.calling_organization.accept(self.session, number).id

    def claim(self, call_id: UUID, per_second: float = 0) -> UUID:
        """The call's turn has come; returns its attempt's id."""
        attempt_id, pace = new_id(), per_second
        claims.next_step(
            self.session, call_id, attempt_id, calls_at_once=5, carrier_calls_per_second=pace
        )
        return attempt_id

    def rang_before(self, minutes_ago: float = 0) -> None:
        self.session.add(
            CallAttempt(
                organization_id=self.calling_organization.organization_id,
                call_id=self.ask(),
                number=1,
                carrier=CarrierKind.SIMULATOR,
                status=CallStatus.BUSY,
                ended_reason=EndedReason.BUSY,
                started_at=utcnow() - timedelta(minutes=minutes_ago),
            )
        )
        self.session.flush()

    def ended(self, status: CallStatus, reason: EndedReason) -> UUID:
        """A call whose first attempt ended so, and which is tried again after half an hour."""
        self.set(retry_times=2, retry_minutes=30)
        call_id = self.ask()
        attempt = self.session.get_one(CallAttempt, self.claim(call_id))
        call = self.session.get_one(Call, call_id)
        lifecycle.end_attempt(self.session, call, attempt, status, reason, at=utcnow())
        return call_id


def outside_hours(waiting_calls: WaitingCalls) -> UUID:
    waiting_calls.set(
        calling_hours_on=True, calling_hours_start=time(9), calling_hours_end=time(10)
    )
    return waiting_calls.ask()


def one_line_in_use(waiting_calls: WaitingCalls) -> UUID:
    waiting_calls.set(max_calls_at_once=1)
    waiting_calls.claim(waiting_calls.ask())
    call_id = waiting_calls.ask()
    waiting_calls.claim(call_id)
    return call_id


def slots_in_use_at_its_next_attempt(waiting_calls: WaitingCalls) -> UUID:
    call_id = waiting_calls.ended(CallStatus.BUSY, EndedReason.BUSY)
    waiting_calls.set(max_calls_at_once=1)
    waiting_calls.claim(waiting_calls.ask())
    waiting_calls.clock.set(RETRY)
    waiting_calls.claim(call_id)
    return call_id


def outside_hours_at_its_next_attempt(waiting_calls: WaitingCalls) -> UUID:
    call_id = waiting_calls.ended(CallStatus.BUSY, EndedReason.BUSY)
    waiting_calls.set(
        calling_hours_on=True, calling_hours_start=time(9), calling_hours_end=time(10)
    )
    waiting_calls.clock.set(RETRY)
    waiting_calls.claim(call_id)
    return call_id


def day_of_the_plan(waiting_calls: WaitingCalls) -> UUID:
    waiting_calls.set(payment_tier=Tier.BASIC)
    limit = PlanLimit(
        partner_id=waiting_calls.calling_organization.partner_id, tier=Tier.BASIC, max_calls_a_day=1
    )
    waiting_calls.session.add(limit)
    waiting_calls.rang_before()
    return waiting_calls.ask()


def day_of_the_organization(waiting_calls: WaitingCalls) -> UUID:
    waiting_calls.set(max_calls_a_day=1)
    waiting_calls.rang_before()
    return waiting_calls.ask()


def rang_just_now(waiting_calls: WaitingCalls) -> UUID:
    waiting_calls.set(number_spacing_minutes=90)
    waiting_calls.rang_before(minutes_ago=30)
    return waiting_calls.ask()


def rang_often_enough(waiting_calls: WaitingCalls) -> UUID:
    waiting_calls.set(number_most_calls=2, number_most_days=1)
    waiting_calls.rang_before(minutes_ago=60)
    waiting_calls.rang_before(minutes_ago=30)
    return waiting_calls.ask()


def anothers_turn(waiting_calls: WaitingCalls) -> UUID:
    waiting_calls.claim(waiting_calls.ask(), per_second=0.01)
    call_id = waiting_calls.ask()
    waiting_calls.claim(call_id, per_second=0.01)
    return call_id


def pause(waiting_calls: WaitingCalls) -> None:
    pauses.pause(waiting_calls.session, system_caller("Mara"), pauses.PauseScope(), "A storm.")


def accepted_during_a_pause(waiting_calls: WaitingCalls) -> UUID:
    pause(waiting_calls)
    return waiting_calls.ask()


def held_by_a_pause(waiting_calls: WaitingCalls) -> UUID:
    call_id = waiting_calls.ask()
    pause(waiting_calls)
    waiting_calls.claim(call_id)
    return call_id


def delay(waiting_calls: WaitingCalls, words: str, seconds: float) -> UUID:
    call_id = waiting_calls.ask()
    attempts.record_carrier_retry(
        waiting_calls.session, waiting_calls.claim(call_id), seconds, words
    )
    return call_id


def delay_then_pause(waiting_calls: WaitingCalls) -> UUID:
    call_id = delay(waiting_calls, "The carrier asked to wait.", 0)
    pause(waiting_calls)
    attempt = waiting_calls.session.scalars(
        select(CallAttempt).where(CallAttempt.call_id == call_id)
    ).one()
    claims.claim_retry(waiting_calls.session, attempt.id)
    return call_id


def never_reached_it(waiting_calls: WaitingCalls) -> UUID:
    call_id = waiting_calls.ask()
    attempt_id = waiting_calls.claim(call_id)
    attempts.record_no_answer(waiting_calls.session, attempt_id)
    attempts.record_never_placed(waiting_calls.session, attempt_id)
    return call_id


HOURS = "It is outside calling hours in the person's time zone."
AGAIN = "It is retried after 30 minutes."
ONE_LINE = "The organization's limit of 1 concurrent call is reached."

REASONS: dict[
    str, tuple[Callable[[WaitingCalls], UUID], tuple[str, str, str | None, str | None]]
] = {
    "outside the hours": (
        outside_hours,
        ("scheduled", HOURS, "2026-06-11T13:00:00.000Z", None),
    ),
    "one line": (
        one_line_in_use,
        ("queued", ONE_LINE, None, None),
    ),
    "the day of the plan": (
        day_of_the_plan,
        (
            "scheduled",
            "The daily call limit of the organization's plan is reached.",
            TOMORROW,
            None,
        ),
    ),
    "the day of the organization": (
        day_of_the_organization,
        ("scheduled", "The organization's daily call limit is reached.", TOMORROW, None),
    ),
    "spacing": (
        rang_just_now,
        (
            "scheduled",
            "The organization waits 90 minutes between calls to one number.",
            "2026-06-10T16:00:00.000Z",
            None,
        ),
    ),
    "often enough": (
        rang_often_enough,
        (
            "scheduled",
            "The organization calls one number at most 2 times in a day.",
            "2026-06-11T14:00:00.000Z",
            None,
        ),
    ),
    "the carrier's pace": (
        anothers_turn,
        (
            "queued",
            "Other calls go to the carrier first.",
            None,
            None,
        ),
    ),
    "accepted during a pause": (
        accepted_during_a_pause,
        ("queued", "Calling is paused: A storm.", None, None),
    ),
    "paused": (
        held_by_a_pause,
        ("queued", "Calling is paused: A storm.", None, None),
    ),
    "429": (
        lambda office: delay(office, "The carrier asked to wait.", 7),
        ("dialing", "The carrier asked to wait.", None, "2026-06-10T15:00:07.000Z"),
    ),
    "out of reach": (
        lambda office: delay(office, "The carrier could not be reached.", 10),
        ("dialing", "The carrier could not be reached.", None, "2026-06-10T15:00:10.000Z"),
    ),
    "429, then paused": (
        delay_then_pause,
        ("dialing", "Calling is paused: A storm.", None, None),
    ),
    "never reached the carrier": (
        never_reached_it,
        ("queued", "The carrier was asked, but the request never reached it.", None, None),
    ),
    "busy": (
        lambda office: office.ended(CallStatus.BUSY, EndedReason.BUSY),
        ("scheduled", f"The line was busy. {AGAIN}", None, RETRY),
    ),
    "no answer": (
        lambda office: office.ended(CallStatus.NO_ANSWER, EndedReason.NO_ANSWER),
        ("scheduled", f"No answer. {AGAIN}", None, RETRY),
    ),
    "the carrier failed": (
        lambda office: office.ended(CallStatus.FAILED, EndedReason.CARRIER_ERROR),
        ("scheduled", f"The carrier could not place the call. {AGAIN}", None, RETRY),
    ),
    "busy, then the limit": (
        slots_in_use_at_its_next_attempt,
        ("queued", ONE_LINE, None, RETRY),
    ),
    "busy, then the hours": (
        outside_hours_at_its_next_attempt,
        ("scheduled", HOURS, "2026-06-11T13:00:00.000Z", "2026-06-11T13:00:00.000Z"),
    ),
}


backend = runs_on(["sqlite"])


@pytest.fixture
def clock() -> Iterator[SetClock]:
    with set_clock() as clock:
        clock.set(NOW)
        yield clock


@pytest.fixture
def waiting_calls(
    clock: SetClock, session: Session, calling_organization: CallingOrganization
) -> WaitingCalls:
    return WaitingCalls(session, calling_organization, clock)


def call_state(script: Script, call_id: UUID) -> tuple[Any, ...]:
    body = script.get(f"/outbound/calls/{call_id}").get_json()
    return tuple(body[name] for name in ("status", "statusDetail", "scheduledFor", "nextAttemptAt"))


@pytest.mark.parametrize("reason", REASONS)
def test_a_call_says_why_it_waits_and_until_when(
    waiting_calls: WaitingCalls, script: Script, reason: str
) -> None:
    make, expected = REASONS[reason]
    call_id = make(waiting_calls)
    waiting_calls.session.commit()
    assert call_state(script, call_id) == expected


def test_the_answer_says_that_calling_is_paused(
    waiting_calls: WaitingCalls, script: Script
) -> None:
    pause(waiting_calls)
    waiting_calls.session.commit()
    answer = script.call().get_json()
    assert (answer["status"], answer["message"]) == (
        "queued",
        "The call is queued and waits. Calling is paused: A storm.",
    )


def test_an_expired_call_says_what_it_waited_for(
    waiting_calls: WaitingCalls, script: Script, clock: SetClock
) -> None:
    call_id = one_line_in_use(waiting_calls)
    clock.pass_by(hours=25)
    waiting_calls.claim(call_id)
    waiting_calls.session.commit()
    assert call_state(script, call_id) == (
        "expired",
        f"Last reason for waiting: {ONE_LINE}",
        None,
        None,
    )


def test_a_call_in_progress_gives_no_reason_to_wait(
    waiting_calls: WaitingCalls, script: Script, clock: SetClock
) -> None:
    call_id = waiting_calls.ended(CallStatus.BUSY, EndedReason.BUSY)
    clock.pass_by(minutes=30)
    waiting_calls.claim(call_id)
    waiting_calls.session.commit()
    assert call_state(script, call_id) == ("dialing", None, None, None)
