"""A number that rang is left alone for as long as the organization wants."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy.orm import Session

from app.enums import CallStatus, CarrierKind, EndedReason
from app.models import Call, CallAttempt, Organization, utcnow
from tests.fixtures.worker import CallingOrganization, make_calling_organization

NUMBER, ANOTHER = "+12025550101", "+12025550102"
SPACING = timedelta(minutes=90)


@pytest.fixture
def calling_organization(session: Session) -> CallingOrganization:
    return make_calling_organization(session, number_spacing_minutes=90)


def accept(
    session: Session,
    calling_organization: CallingOrganization,
    number: str = NUMBER,
    *,
    live: bool = True,
) -> Call:
    return calling_organization.accept(session, number, live=live)


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
    session: Session, calling_organization: CallingOrganization, reason: EndedReason | None
) -> None:
    at = utcnow() - timedelta(minutes=30)
    rang(session, accept(session, calling_organization), at, reason)
    later = accept(session, calling_organization)
    assert (later.status, later.scheduled_for) == (CallStatus.SCHEDULED, at + SPACING)
    assert accept(session, calling_organization, ANOTHER).status is CallStatus.QUEUED


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
    session: Session, calling_organization: CallingOrganization, ago: timedelta, reason: EndedReason
) -> None:
    rang(session, accept(session, calling_organization), utcnow() - ago, reason)
    assert accept(session, calling_organization).status is CallStatus.QUEUED


def test_calls_of_test_keys_neither_wait_nor_keep_waiting(
    session: Session, calling_organization: CallingOrganization
) -> None:
    rang(session, accept(session, calling_organization, live=False), utcnow())
    call = accept(session, calling_organization)
    assert call.status is CallStatus.QUEUED
    rang(session, call, utcnow())
    assert accept(session, calling_organization, live=False).status is CallStatus.QUEUED


def test_without_the_rule_no_call_waits(
    session: Session, calling_organization: CallingOrganization
) -> None:
    session.get_one(
        Organization, calling_organization.organization_id
    ).number_spacing_minutes = None
    rang(session, accept(session, calling_organization), utcnow())
    assert accept(session, calling_organization).status is CallStatus.QUEUED
