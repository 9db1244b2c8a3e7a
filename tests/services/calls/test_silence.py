"""A call whose carrier gives no answer any more lets other calls be placed, and ends as unknown."""

from uuid import UUID

import pytest
from sqlalchemy.orm import Session

from app.enums import CallStatus, EndedReason
from app.gateways.carriers.base import (
    CarrierEvent,
    CarrierEventKind,
    CarrierReport,
    PlacementVerdict,
)
from app.models import Call, CallAttempt, Organization, new_id, utcnow
from app.services.calls import attempts, carrier_reports, claims, limits, silence
from app.services.calls.claims import ClaimKind
from tests.fixtures.clock import SetClock
from tests.fixtures.worker import CallingOrganization, make_calling_organization


@pytest.fixture
def calling_organization(session: Session, clock: SetClock) -> CallingOrganization:
    return make_calling_organization(session)


@pytest.fixture
def attempt_id(session: Session, calling_organization: CallingOrganization) -> UUID:
    """Of a call that the carrier took."""
    call, attempt_id = calling_organization.accept(session), new_id()
    assert claimed(session, call, attempt_id) is ClaimKind.DIAL
    attempts.record_placed(session, attempt_id, "its reference")
    session.flush()
    return attempt_id


def claimed(session: Session, call: Call, attempt_id: UUID) -> ClaimKind:
    return claims.next_step(session, call.id, attempt_id, calls_at_once=1).kind


def call_of(session: Session, attempt_id: UUID) -> Call:
    return session.get_one(Call, session.get_one(CallAttempt, attempt_id).call_id)


def report(*kinds: CarrierEventKind) -> CarrierReport:
    events = tuple(CarrierEvent(kind, utcnow()) for kind in kinds)
    return CarrierReport(PlacementVerdict.PLACED, "its reference", events)


def test_after_the_minutes_of_the_setting_another_call_is_placed(
    session: Session, calling_organization: CallingOrganization, attempt_id: UUID, clock: SetClock
) -> None:
    second, since = calling_organization.accept(session, "+12025550102"), utcnow()
    assert claimed(session, second, new_id()) is ClaimKind.WAIT
    clock.pass_by(minutes=5, seconds=-1)
    assert not silence.release_slot(session, attempt_id, since, 5)
    clock.pass_by(seconds=1)
    assert silence.release_slot(session, attempt_id, since, 5)
    session.flush()
    first = call_of(session, attempt_id)
    assert (first.status, first.status_detail) == (CallStatus.DIALING, silence.NO_ANSWER)
    assert limits.count_under_way(session, calling_organization.organization_id) == 0
    assert claimed(session, second, new_id()) is ClaimKind.DIAL


def test_a_callback_counts_as_an_answer(
    session: Session, calling_organization: CallingOrganization, attempt_id: UUID, clock: SetClock
) -> None:
    since = utcnow()
    clock.pass_by(minutes=4)
    carrier_reports.apply(session, attempt_id, report(CarrierEventKind.RINGING))
    clock.pass_by(minutes=4)
    assert not silence.release_slot(session, attempt_id, since, 5)
    clock.pass_by(minutes=1)
    assert silence.release_slot(session, attempt_id, since, 5)


def test_a_call_counts_again_once_the_carrier_reports_something(
    session: Session, calling_organization: CallingOrganization, attempt_id: UUID, clock: SetClock
) -> None:
    since = utcnow()
    clock.pass_by(minutes=6)
    silence.release_slot(session, attempt_id, since, 5)
    carrier_reports.apply(session, attempt_id, report(CarrierEventKind.ANSWERED))
    session.flush()
    call = call_of(session, attempt_id)
    assert (call.status, call.status_detail) == (CallStatus.IN_PROGRESS, None)
    assert limits.count_under_way(session, calling_organization.organization_id) == 1


def test_a_call_is_unknown_once_the_longest_call_would_be_over(
    session: Session, calling_organization: CallingOrganization, attempt_id: UUID, clock: SetClock
) -> None:
    clock.pass_by(minutes=2)
    carrier_reports.apply(session, attempt_id, report(CarrierEventKind.ANSWERED))
    clock.pass_by(minutes=60)
    assert not silence.end_if_over(session, attempt_id, 60)
    clock.pass_by(seconds=1)
    assert silence.end_if_over(session, attempt_id, 60)
    session.flush()
    call = call_of(session, attempt_id)
    assert (call.status, call.ended_reason, call.status_detail, call.slot_released_at) == (
        CallStatus.UNKNOWN,
        EndedReason.UNKNOWN,
        silence.LONGER_THAN_A_CALL,
        None,
    )


def test_a_call_that_was_never_answered_may_have_rung_before(
    session: Session, calling_organization: CallingOrganization, attempt_id: UUID, clock: SetClock
) -> None:
    clock.pass_by(minutes=65)
    assert not silence.end_if_over(session, attempt_id, 60)
    clock.pass_by(seconds=1)
    assert silence.end_if_over(session, attempt_id, 60)


def test_a_silent_call_does_not_count_as_a_call_at_once(
    session: Session, calling_organization: CallingOrganization, attempt_id: UUID, clock: SetClock
) -> None:
    organization = session.get_one(Organization, calling_organization.organization_id)
    full = limits.all_slots_taken(1)
    assert limits.no_free_slot(session, organization, 1, live=True) == full
    since = utcnow()
    clock.pass_by(minutes=5)
    silence.release_slot(session, attempt_id, since, 5)
    session.flush()
    assert limits.no_free_slot(session, organization, 1, live=True) is None
