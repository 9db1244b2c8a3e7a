"""Postponed calls come sooner where the rule that held them is relaxed."""

from collections.abc import Iterator
from datetime import UTC, datetime, time
from uuid import UUID

import pytest
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from app.enums import CallStatus, EndedReason, Tier
from app.models import Call, CallAttempt, CallEvent, Organization, PlanLimit, new_id
from app.services.calls import claims, lifecycle, waiting
from app.services.calls.claims import ClaimKind
from app.services.calls.limits import DAY_USED_UP, OUTSIDE_HOURS
from app.services.postponed_calls import request_rescheduling
from tests.fixtures.clock import SetClock, set_clock
from tests.fixtures.statements import counted
from tests.fixtures.worker import CallingOrganization, make_calling_organization

NOON = datetime(2026, 6, 10, 12, tzinfo=UTC)
TOMORROW = datetime(2026, 6, 11, tzinfo=UTC)
EIGHT_IN_NEW_YORK = datetime(2026, 6, 11, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def clock() -> Iterator[SetClock]:
    with set_clock() as clock:
        clock.set(NOON.isoformat())
        yield clock


def accept_call(
    session: Session, calling_organization: CallingOrganization, number: int = 1
) -> Call:
    return calling_organization.accept(session, f"+1212555{number:04}")


def claim(session: Session, call: Call, attempt_id: UUID | None = None) -> ClaimKind:
    return claims.next_step(session, call.id, attempt_id or new_id(), calls_at_once=5).kind


def reschedule_all(
    session: Session, calling_organization: CallingOrganization, organization_id: UUID | None = None
) -> None:
    """As the worker does."""
    place = None
    while place := waiting.reschedule_earlier(
        session, calling_organization.partner_id, organization_id, place
    ):
        pass


def count_queued(session: Session, workflow: str = "place_call") -> int:
    """How many pieces of such work were handed in."""
    schema = "" if session.get_bind().dialect.name == "sqlite" else "dbos."
    query = f"SELECT count(*) FROM {schema}workflow_status WHERE name = :workflow"
    return session.scalar(text(query), {"workflow": workflow}) or 0


def accept_beyond_limit(
    session: Session, calling_organization: CallingOrganization, waiting: int
) -> list[Call]:
    """Calls that were accepted after the one that a day allows was placed."""
    assert claim(session, accept_call(session, calling_organization)) is ClaimKind.DIAL
    return [accept_call(session, calling_organization, number) for number in range(2, 2 + waiting)]


def test_as_many_calls_come_today_as_a_raised_limit_has_room_for(session: Session) -> None:
    calling_organization = make_calling_organization(session, max_calls_a_day=1)
    postponed = accept_beyond_limit(session, calling_organization, 3)
    assert {call.scheduled_for for call in postponed} == {TOMORROW}
    before = count_queued(session)
    session.get_one(Organization, calling_organization.organization_id).max_calls_a_day = 3
    reschedule_all(session, calling_organization)
    reschedule_all(session, calling_organization)
    assert [(call.scheduled_for, call.status_detail) for call in postponed] == [
        (NOON, None),
        (NOON, None),
        (TOMORROW, DAY_USED_UP),
    ]
    assert count_queued(session) - before == 2
    assert [claim(session, call) for call in postponed[:2]] == [ClaimKind.DIAL] * 2


def test_the_calls_of_an_organization_are_counted_once_for_all_that_come_sooner(
    session: Session,
) -> None:
    calling_organization = make_calling_organization(session, max_calls_a_day=1)
    accept_beyond_limit(session, calling_organization, 3)
    session.get_one(Organization, calling_organization.organization_id).max_calls_a_day = 9
    session.flush()
    with counted(session.get_bind().engine) as statements:
        reschedule_all(session, calling_organization)
    counts = [each for each in statements if "count(*)" in each and "scheduled_for" in each]
    assert len(counts) == 1


def test_a_call_that_comes_sooner_says_so_and_keeps_its_expiry(
    session: Session, clock: SetClock
) -> None:
    calling_organization = make_calling_organization(session, max_calls_a_day=1)
    [call] = accept_beyond_limit(session, calling_organization, 1)
    patience = call.expires_at - TOMORROW
    clock.pass_by(hours=1)
    session.get_one(Organization, calling_organization.organization_id).max_calls_a_day = None
    reschedule_all(session, calling_organization)
    now = NOON.replace(hour=13)
    assert (call.status, call.expires_at - now) == (CallStatus.SCHEDULED, patience)
    query = select(CallEvent.detail).where(CallEvent.call_id == call.id).order_by(CallEvent.id)
    assert session.scalars(query).all() == [None, TOMORROW.isoformat(), now.isoformat()]


def test_wider_hours_move_calls_to_their_opening_and_no_hours_to_now(
    session: Session, clock: SetClock
) -> None:
    calling_organization = make_calling_organization(session, calling_hours_on=True)
    clock.set("2026-06-11T02:00")
    call = accept_call(session, calling_organization)
    assert (call.scheduled_for, call.status_detail) == (EIGHT_IN_NEW_YORK, OUTSIDE_HOURS)
    organization = session.get_one(Organization, calling_organization.organization_id)
    organization.calling_hours_start = time(9)
    reschedule_all(session, calling_organization)
    assert call.scheduled_for == EIGHT_IN_NEW_YORK
    organization.calling_hours_start = time(6)
    reschedule_all(session, calling_organization)
    six = EIGHT_IN_NEW_YORK.replace(hour=10)
    assert (call.scheduled_for, call.status_detail) == (six, OUTSIDE_HOURS)
    organization.calling_hours_on = False
    reschedule_all(session, calling_organization)
    assert (call.scheduled_for, call.status_detail) == (clock.now, None)


def test_a_plan_that_allows_more_is_applied_to_each_of_its_organizations(
    session: Session,
) -> None:
    calling_organization = make_calling_organization(session, payment_tier=Tier.BASIC)
    other = make_calling_organization(session, max_calls_a_day=1)
    limit = PlanLimit(
        partner_id=calling_organization.partner_id, tier=Tier.BASIC, max_calls_a_day=1
    )
    session.add(limit)
    session.flush()
    [call], [theirs] = (
        accept_beyond_limit(session, calling_organization, 1),
        accept_beyond_limit(session, other, 1),
    )
    session.get_one(Organization, other.organization_id).max_calls_a_day = None
    limit.max_calls_a_day = 2
    reschedule_all(session, calling_organization)
    assert (call.scheduled_for, theirs.scheduled_for) == (NOON, TOMORROW)


def test_the_worker_is_asked_only_if_a_call_was_delayed(session: Session) -> None:
    calling_organization = make_calling_organization(session, max_calls_a_day=1)
    asked = count_queued(session, "reschedule_earlier")
    request_rescheduling(session, calling_organization.partner_id)
    assert count_queued(session, "reschedule_earlier") == asked
    accept_beyond_limit(session, calling_organization, 1)
    request_rescheduling(session, calling_organization.partner_id, new_id())
    assert count_queued(session, "reschedule_earlier") == asked
    request_rescheduling(
        session, calling_organization.partner_id, calling_organization.organization_id
    )
    assert count_queued(session, "reschedule_earlier") == asked + 1


def test_an_earlier_turn_does_not_hasten_a_retry(session: Session, clock: SetClock) -> None:
    """The call was postponed to midnight and rescheduled earlier; then its line was busy."""
    calling_organization = make_calling_organization(
        session, max_calls_a_day=1, retry_times=1, retry_minutes=30
    )
    [call] = accept_beyond_limit(session, calling_organization, 1)
    session.get_one(Organization, calling_organization.organization_id).max_calls_a_day = None
    clock.set("2026-06-10T23:55")
    reschedule_all(session, calling_organization)
    attempt_id = new_id()
    assert claim(session, call, attempt_id) is ClaimKind.DIAL
    attempt = session.get_one(CallAttempt, attempt_id)
    lifecycle.end_attempt(session, call, attempt, CallStatus.BUSY, EndedReason.BUSY, at=clock.now)
    retry = call.next_attempt_at
    before = count_queued(session)
    clock.set("2026-06-11T00:00")
    assert claim(session, call) is ClaimKind.DONE
    assert (call.status, call.next_attempt_at) == (CallStatus.SCHEDULED, retry)
    assert count_queued(session) - before == 1
    clock.set("2026-06-11T00:25")
    assert claim(session, call) is ClaimKind.DIAL
    assert claim(session, call) is ClaimKind.DONE
