"""Attempts that certainly never rang are repeated, depending on the reason."""

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from app.enums import CallStatus, EndedReason
from app.gateways.carriers.base import (
    CarrierEvent,
    CarrierEventKind,
    CarrierReport,
    PlacementVerdict,
)
from app.models import Call, Organization, new_id
from app.services.calls import attempts, carrier_reports, claims, limits
from app.services.calls.attempts import CUT_SHORT, UNPLACED
from app.services.calls.claims import ClaimKind
from tests.fixtures.clock import SetClock
from tests.fixtures.worker import CallingOrganization


@pytest.fixture
def call(session: Session, calling_organization: CallingOrganization) -> Call:
    return calling_organization.accept(session)


def fail_to_place(session: Session, call: Call, *, was_asked: bool) -> CallStatus:
    """One attempt that the carrier never got; the call's state after it."""
    attempt_id = new_id()
    claim = claims.next_step(session, call.id, attempt_id, calls_at_once=20)
    assert claim.kind is ClaimKind.DIAL
    if was_asked:
        attempts.record_no_answer(session, attempt_id)
    attempts.record_never_placed(session, attempt_id)
    session.flush()
    return call.status


@pytest.mark.parametrize(
    ("was_asked", "attempts", "detail"), [(True, 3, UNPLACED), (False, 20, CUT_SHORT)]
)
def test_a_call_fails_once_its_attempts_are_used_up(
    session: Session, call: Call, was_asked: bool, attempts: int, detail: str
) -> None:
    after = [fail_to_place(session, call, was_asked=was_asked) for _ in range(attempts)]
    assert after == [CallStatus.QUEUED] * (attempts - 1) + [CallStatus.FAILED]
    assert (call.ended_reason, call.status_detail) == (EndedReason.CARRIER_ERROR, detail)


def test_attempts_cut_short_by_a_killed_worker_do_not_count_against_the_carrier(
    session: Session, call: Call
) -> None:
    asked = [True, False, False, False, True, False, True]
    after = [fail_to_place(session, call, was_asked=was_asked) for was_asked in asked]
    assert after == [CallStatus.QUEUED] * 6 + [CallStatus.FAILED]
    assert call.status_detail == UNPLACED


def test_attempts_that_were_never_placed_do_not_count_as_calls_of_the_day(
    session: Session, clock: SetClock, call: Call
) -> None:
    organization = session.get_one(Organization, call.organization_id)
    for was_asked in (True, False, True, True):
        fail_to_place(session, call, was_asked=was_asked)
    assert call.status is CallStatus.FAILED
    assert limits.made_today(session, organization, clock.now) == 0


def test_a_call_that_has_rung_keeps_its_start_when_a_later_attempt_is_never_placed(
    session: Session, clock: SetClock, call: Call
) -> None:
    session.get_one(Organization, call.organization_id).retry_times = 1
    first, began = new_id(), clock.now
    claims.next_step(session, call.id, first, calls_at_once=20)
    end = CarrierEvent(CarrierEventKind.ENDED, began, reason=EndedReason.BUSY)
    carrier_reports.apply(session, first, CarrierReport(PlacementVerdict.PLACED, "1", [end]))
    clock.pass_by(hours=1)
    fail_to_place(session, call, was_asked=False)
    assert (call.status, call.started_at) == (CallStatus.QUEUED, began)


def queue_of(session: Session) -> list[str]:
    """The work in the engine's queue, what comes next first."""
    schema = "" if session.get_bind().dialect.name == "sqlite" else "dbos."
    query = f"SELECT workflow_uuid FROM {schema}workflow_status ORDER BY priority, created_at"
    return list(session.scalars(text(query)))


def test_the_next_attempt_comes_before_calls_that_have_not_started(
    session: Session, calling_organization: CallingOrganization, call: Call
) -> None:
    calling_organization.accept(session)
    waiting = queue_of(session)
    fail_to_place(session, call, was_asked=True)
    again, *others = queue_of(session)
    assert again not in waiting
    assert others == waiting
