"""A number that rang is left alone for as long as the organization wants."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy.orm import Session

from app.enums import CallStatus, CarrierKind, EndedReason
from app.models import Call, CallAttempt, Organization, utcnow
from tests.fixtures.worker import Line, make_line

NUMBER, ANOTHER = "+12025550101", "+12025550102"
SPACING = timedelta(minutes=90)


@pytest.fixture
def line(session: Session) -> Line:
    return make_line(session, number_spacing_minutes=90)


def accept(session: Session, line: Line, number: str = NUMBER, *, live: bool = True) -> Call:
    return line.accept(session, number, live=live)


def rang(
    session: Session, call: Call, at: datetime, reason: EndedReason | None = EndedReason.BUSY
) -> None:
    session.add(
        CallAttempt(
            organization_id=call.organization_id,
            call_id=call.id,
            number=1,
            carrier=CarrierKind.SIMULATOR,
            status=CallStatus.DIALING if reason is None else CallStatus.BUSY,
            ended_reason=reason,
            started_at=at,
        )
    )
    session.flush()


@pytest.mark.parametrize("reason", [EndedReason.BUSY, EndedReason.COMPLETED, None])
def test_the_next_call_waits_until_the_spacing_has_passed(
    session: Session, line: Line, reason: EndedReason | None
) -> None:
    at = utcnow() - timedelta(minutes=30)
    rang(session, accept(session, line), at, reason)
    later = accept(session, line)
    assert (later.status, later.scheduled_for) == (CallStatus.SCHEDULED, at + SPACING)
    assert accept(session, line, ANOTHER).status is CallStatus.QUEUED


@pytest.mark.parametrize(
    ("ago", "reason"),
    [
        (SPACING, EndedReason.BUSY),
        (timedelta(0), EndedReason.CARRIER_ERROR),
        (timedelta(0), EndedReason.REJECTED),
        (timedelta(0), EndedReason.NUMBER_INVALID),
    ],
)
def test_calls_that_rang_long_ago_or_never_do_not_delay_others(
    session: Session, line: Line, ago: timedelta, reason: EndedReason
) -> None:
    rang(session, accept(session, line), utcnow() - ago, reason)
    assert accept(session, line).status is CallStatus.QUEUED


def test_calls_of_test_keys_neither_wait_nor_keep_waiting(session: Session, line: Line) -> None:
    rang(session, accept(session, line, live=False), utcnow())
    call = accept(session, line)
    assert call.status is CallStatus.QUEUED
    rang(session, call, utcnow())
    assert accept(session, line, live=False).status is CallStatus.QUEUED


def test_without_the_rule_no_call_waits(session: Session, line: Line) -> None:
    session.get_one(Organization, line.organization_id).number_spacing_minutes = None
    rang(session, accept(session, line), utcnow())
    assert accept(session, line).status is CallStatus.QUEUED
