"""Calls by a clock that is set: nights on which clocks change, quiet hours, expiry, retries."""

from datetime import UTC, datetime, time
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallStatus, EndedReason
from app.gateways.carriers.base import (
    CarrierEvent,
    CarrierEventKind,
    CarrierReport,
    PlacementVerdict,
)
from app.models import Call, CallAttempt, CallEvent, Organization, new_id, utcnow
from app.services.calls import attempts, carrier_reports, claims, events, lifecycle
from app.services.calls.claims import ClaimKind
from tests.fixtures.clock import SetClock
from tests.fixtures.worker import CallingOrganization, make_calling_organization

NEW_YORK, LONDON, ANYWHERE_IN_THE_US = "+12125550101", "+442079460101", "+18005550101"


@pytest.fixture
def calling_organization(session: Session, clock: SetClock) -> CallingOrganization:
    return make_calling_organization(
        session,
        allowed_regions=["US", "GB"],
        calling_hours_on=True,
        calling_hours_start=time(8),
        calling_hours_end=time(21),
    )


def ask(
    session: Session, calling_organization: CallingOrganization, number: str, **more: Any
) -> Call:
    return calling_organization.accept(session, number, **more)


def claim(session: Session, call: Call) -> ClaimKind:
    return claims.next_step(session, call.id, new_id(), calls_at_once=5).kind


@pytest.mark.parametrize(
    ("now", "number", "opens"),
    [
        # The night of spring in New York: 02:00 is 03:00, and eight o'clock an hour earlier.
        ("2026-03-08T06:30", NEW_YORK, "2026-03-08T12:00"),
        ("2026-03-07T06:30", NEW_YORK, "2026-03-07T13:00"),
        # The night of autumn: the hour from 01:00 comes twice.
        ("2026-11-01T05:30", NEW_YORK, "2026-11-01T13:00"),
        ("2026-11-01T06:30", NEW_YORK, "2026-11-01T13:00"),
        # Europe changes on other nights.
        ("2026-03-29T00:30", LONDON, "2026-03-29T07:00"),
        ("2026-10-25T00:30", LONDON, "2026-10-25T08:00"),
        # The last call of the evening before the clocks change.
        ("2026-03-08T01:59", NEW_YORK, None),
        ("2026-03-08T02:00", NEW_YORK, "2026-03-08T12:00"),
        # Morning in New York, night on Hawaii: all zones of the number have to agree.
        ("2026-01-15T14:00", ANYWHERE_IN_THE_US, "2026-01-15T18:00"),
        ("2026-01-15T18:00", ANYWHERE_IN_THE_US, None),
        # Evening in New York closes it for all of them.
        ("2026-01-16T02:00", ANYWHERE_IN_THE_US, "2026-01-16T18:00"),
    ],
)
def test_a_call_waits_for_calling_hours_at_its_destination(
    session: Session,
    calling_organization: CallingOrganization,
    clock: SetClock,
    now: str,
    number: str,
    opens: str | None,
) -> None:
    clock.set(now)
    call = ask(session, calling_organization, number)
    expected = datetime.fromisoformat(opens).replace(tzinfo=UTC) if opens else None
    assert (call.scheduled_for, call.status) == (
        expected,
        CallStatus.SCHEDULED if opens else CallStatus.QUEUED,
    )


def test_a_call_accepted_in_the_evening_is_delayed_when_its_turn_comes_at_night(
    session: Session, calling_organization: CallingOrganization, clock: SetClock
) -> None:
    clock.set("2026-03-08T01:59")
    call = ask(session, calling_organization, NEW_YORK)
    clock.pass_by(minutes=1)
    assert claim(session, call) is ClaimKind.DONE
    assert (call.status, call.scheduled_for, call.status_detail) == (
        CallStatus.SCHEDULED,
        datetime(2026, 3, 8, 12, tzinfo=UTC),
        "It is outside calling hours in the person's time zone.",
    )
    clock.set("2026-03-08T12:00")
    assert claim(session, call) is ClaimKind.DIAL
    assert call.status_detail is None


def delay(session: Session, call: Call) -> UUID:
    """Let the carrier delay the call's attempt, and return it."""
    attempt_id = new_id()
    assert claims.next_step(session, call.id, attempt_id, calls_at_once=5).kind is ClaimKind.DIAL
    attempts.record_carrier_retry(session, attempt_id, 0, "The carrier asked to wait.")
    session.flush()
    return attempt_id


def test_a_carrier_that_delays_an_attempt_again_is_in_the_timeline_once_a_reason(
    session: Session, calling_organization: CallingOrganization, clock: SetClock
) -> None:
    clock.set("2026-03-07T15:00")
    attempt_id = delay(session, ask(session, calling_organization, NEW_YORK))
    for reason in ["The carrier asked to wait."] * 2 + ["The carrier is busy."] * 2:
        clock.pass_by(minutes=1)
        assert claims.claim_retry(session, attempt_id).kind is ClaimKind.DIAL
        attempts.record_carrier_retry(session, attempt_id, 0, reason)
        session.flush()
    entries = select(CallEvent.detail).where(CallEvent.key.contains(events.DELAYED))
    assert session.scalars(entries.order_by(CallEvent.at)).all() == [
        "The carrier asked to wait.",
        "The carrier is busy.",
    ]


def test_an_attempt_that_the_carrier_delayed_into_the_night_is_made_in_the_morning(
    session: Session, calling_organization: CallingOrganization, clock: SetClock
) -> None:
    clock.set("2026-03-08T01:59")
    call = ask(session, calling_organization, NEW_YORK)
    attempt_id = delay(session, call)
    clock.pass_by(minutes=1)
    assert claims.claim_retry(session, attempt_id).kind is ClaimKind.DONE
    assert claims.claim_retry(session, attempt_id).kind is ClaimKind.DONE  # a step may run again
    assert claim(session, call) is ClaimKind.DONE
    assert (call.status, call.scheduled_for, call.status_detail) == (
        CallStatus.SCHEDULED,
        datetime(2026, 3, 8, 12, tzinfo=UTC),
        "It is outside calling hours in the person's time zone.",
    )
    clock.set("2026-03-08T12:00")
    assert claim(session, call) is ClaimKind.DIAL
    assert call.status_detail is None


def test_an_attempt_that_the_carrier_delayed_is_not_delayed_by_itself(
    session: Session, calling_organization: CallingOrganization, clock: SetClock
) -> None:
    organization = session.get_one(Organization, calling_organization.organization_id)
    organization.max_calls_a_day = organization.number_most_calls = 1
    organization.number_most_days, organization.number_spacing_minutes = 1, 30
    clock.set("2026-06-10T15:00")
    attempt_id = delay(session, ask(session, calling_organization, NEW_YORK))
    assert claims.claim_retry(session, attempt_id).kind is ClaimKind.DIAL


def test_a_number_that_rang_meanwhile_makes_a_delayed_attempt_wait(
    session: Session, calling_organization: CallingOrganization, clock: SetClock
) -> None:
    organization = session.get_one(Organization, calling_organization.organization_id)
    organization.number_spacing_minutes = 30
    clock.set("2026-06-10T15:00")
    call = ask(session, calling_organization, NEW_YORK)
    attempt_id = delay(session, call)
    assert claim(session, ask(session, calling_organization, NEW_YORK)) is ClaimKind.DIAL
    assert claims.claim_retry(session, attempt_id).kind is ClaimKind.DONE
    assert claim(session, call) is ClaimKind.DONE
    assert call.scheduled_for == datetime(2026, 6, 10, 15, 30, tzinfo=UTC)


def test_attempts_that_the_carrier_delayed_wait_for_their_turns_at_the_carrier(
    session: Session, calling_organization: CallingOrganization, clock: SetClock
) -> None:
    clock.set("2026-06-10T15:00")
    delayed = [delay(session, ask(session, calling_organization, NEW_YORK)) for _ in range(2)]

    def retries() -> list[ClaimKind]:
        return [
            claims.claim_retry(session, attempt_id, carrier_calls_per_second=1).kind
            for attempt_id in delayed
        ]

    assert retries() == [ClaimKind.DIAL, ClaimKind.RETRY]
    clock.pass_by(minutes=1)
    assert retries() == [ClaimKind.RESOLVE, ClaimKind.DIAL]


def test_an_attempt_that_the_carrier_delayed_for_a_day_expires(
    session: Session, calling_organization: CallingOrganization, clock: SetClock
) -> None:
    clock.set("2026-06-10T15:00")
    call = ask(session, calling_organization, NEW_YORK)
    attempt_id = delay(session, call)
    clock.pass_by(hours=24)
    assert claims.claim_retry(session, attempt_id).kind is ClaimKind.DONE
    assert (call.status, call.status_detail) == (
        CallStatus.EXPIRED,
        "Last reason for waiting: The carrier asked to wait.",
    )


@pytest.mark.parametrize(("hours", "kind"), [(23.9, ClaimKind.DIAL), (24, ClaimKind.DONE)])
def test_a_call_that_could_not_be_placed_in_a_day_expires(
    session: Session,
    calling_organization: CallingOrganization,
    clock: SetClock,
    hours: float,
    kind: ClaimKind,
) -> None:
    clock.set("2026-06-10T15:00")
    call = ask(session, calling_organization, NEW_YORK)
    clock.pass_by(hours=hours)
    assert claim(session, call) is kind
    ended = CallStatus.DIALING if kind is ClaimKind.DIAL else CallStatus.EXPIRED
    assert call.status is ended


@pytest.mark.parametrize(("expiry", "again"), [(24, True), (1, False)])
def test_a_busy_number_is_called_again_later_unless_the_call_expires(
    session: Session,
    calling_organization: CallingOrganization,
    clock: SetClock,
    expiry: int,
    again: bool,
) -> None:
    organization = session.get_one(Organization, calling_organization.organization_id)
    organization.retry_times, organization.retry_minutes = 1, 60
    clock.set("2026-06-10T15:00")
    call = ask(session, calling_organization, NEW_YORK, expiry_hours=expiry)
    assert claim(session, call) is ClaimKind.DIAL
    clock.pass_by(minutes=1)
    attempt = session.scalars(select(CallAttempt)).one()
    busy = CallStatus.BUSY, EndedReason.BUSY
    lifecycle.end_attempt(session, call, attempt, *busy, at=utcnow())
    at = datetime(2026, 6, 10, 16, 1, tzinfo=UTC)
    assert (call.status, call.next_attempt_at) == (
        (CallStatus.SCHEDULED, at) if again else (CallStatus.BUSY, None)
    )


def test_a_refused_call_is_retried_as_often_as_the_organization_chose(
    session: Session, calling_organization: CallingOrganization, clock: SetClock
) -> None:
    organization = session.get_one(Organization, calling_organization.organization_id)
    organization.retry_times, organization.retry_minutes = 1, 30
    clock.set("2026-06-10T15:00")
    call = ask(session, calling_organization, NEW_YORK)
    statuses = []
    for _ in range(2):
        attempt_id = new_id()
        claims.next_step(session, call.id, attempt_id, calls_at_once=5)
        attempts.record_refusal(session, attempt_id, EndedReason.CARRIER_ERROR, "Unauthorized.")
        statuses.append(call.status)
        clock.pass_by(minutes=30)
    assert statuses == [CallStatus.SCHEDULED, CallStatus.FAILED]


def test_a_call_that_was_answered_is_not_retried_after_an_error_of_the_carrier(
    session: Session, calling_organization: CallingOrganization, clock: SetClock
) -> None:
    organization = session.get_one(Organization, calling_organization.organization_id)
    organization.retry_times, organization.retry_minutes = 1, 30
    clock.set("2026-06-10T15:00")
    call, attempt_id = ask(session, calling_organization, NEW_YORK), new_id()
    claims.next_step(session, call.id, attempt_id, calls_at_once=5)
    answer = CarrierEvent(CarrierEventKind.ANSWERED, clock.now, AnsweredBy.HUMAN)
    clock.pass_by(seconds=20)
    end = CarrierEvent(CarrierEventKind.ENDED, clock.now, reason=EndedReason.CARRIER_ERROR)
    report = CarrierReport(PlacementVerdict.PLACED, "1", [answer, end])
    carrier_reports.apply(session, attempt_id, report)
    assert (call.status, call.seconds) == (CallStatus.FAILED, 20)


def test_an_idempotency_key_is_good_for_a_day(
    session: Session, calling_organization: CallingOrganization, clock: SetClock
) -> None:
    clock.set("2026-06-10T15:00")
    made = []
    for hours in (0, 23.9, 0.2):
        clock.pass_by(hours=hours)
        made.append(ask(session, calling_organization, NEW_YORK, idempotency_key="k").id)
    assert made[0] == made[1]
    assert made[1] != made[2]
