"""One number rings at most this often in a number of days."""

from datetime import timedelta

import pytest
from sqlalchemy.orm import Session

from app.enums import CallSource, CallStatus, CarrierKind, EndedReason
from app.models import Call, CallAttempt, Organization, utcnow
from app.services import calls
from app.services.calls import limits
from tests.fixtures.clock import SetClock
from tests.fixtures.worker import CallingOrganization, make_calling_organization

NUMBER, ANOTHER = "+12025550101", "+12025550102"
WHY = "The organization calls one number at most 3 times in 7 days."


@pytest.fixture
def calling_organization(session: Session) -> CallingOrganization:
    return make_calling_organization(session, number_most_calls=3, number_most_days=7)


def ask(
    session: Session,
    calling_organization: CallingOrganization,
    number: str = NUMBER,
    *,
    live: bool = True,
) -> calls.CallScheduled:
    request = calls.CallRequest(
        calling_organization.assistant_id,
        phone_number=number,
        intro_message="Hello.",
        voicemail_message="Bye.",
    )
    return calls.schedule(
        session, calling_organization.key, request, source=CallSource.API, live=live
    )


def rang(
    session: Session,
    calling_organization: CallingOrganization,
    days_ago: float,
    reason: EndedReason,
    *,
    live: bool = True,
) -> None:
    call_id = ask(session, calling_organization, live=live).call_id
    session.add(
        CallAttempt(
            organization_id=calling_organization.organization_id,
            call_id=call_id,
            number=1,
            carrier=CarrierKind.SIMULATOR,
            status=CallStatus.FAILED,
            ended_reason=reason,
            started_at=utcnow() - timedelta(days=days_ago),
        )
    )
    session.flush()


def test_the_next_call_waits_until_the_number_may_ring_again_and_says_so(
    session: Session, clock: SetClock, calling_organization: CallingOrganization
) -> None:
    for days_ago in (6, 3, 1):
        assert ask(session, calling_organization).status is CallStatus.QUEUED
        rang(session, calling_organization, days_ago, EndedReason.BUSY)
    accepted = ask(session, calling_organization)
    call = session.get_one(Call, accepted.call_id)
    assert (call.status, call.status_detail) == (CallStatus.SCHEDULED, WHY)
    assert call.scheduled_for == clock.now + timedelta(days=1)
    assert accepted.message.endswith(f"the next moment at which it is allowed. {WHY}")
    assert ask(session, calling_organization, ANOTHER).status is CallStatus.QUEUED


@pytest.mark.parametrize(
    ("days_ago", "reason", "live"),
    [
        (8, EndedReason.BUSY, True),
        (1, EndedReason.CARRIER_ERROR, True),
        (1, EndedReason.BUSY, False),
    ],
)
def test_old_unanswered_and_test_calls_do_not_count(
    session: Session,
    calling_organization: CallingOrganization,
    days_ago: int,
    reason: EndedReason,
    live: bool,
) -> None:
    for _ in range(2):
        rang(session, calling_organization, 2, EndedReason.BUSY)
    rang(session, calling_organization, days_ago, reason, live=live)
    assert ask(session, calling_organization).status is CallStatus.QUEUED


def test_of_several_limits_the_longest_wait_is_shown(
    session: Session, calling_organization: CallingOrganization
) -> None:
    organization = session.get_one(Organization, calling_organization.organization_id)
    organization.number_spacing_minutes, organization.max_calls_a_day = 10, 3
    for days_ago in (6.9, 0.001, 0):
        rang(session, calling_organization, days_ago, EndedReason.BUSY)
    now = utcnow()
    waits = [
        limits.find_wait(session, NUMBER, organization, now + later, live=True)
        for later in (timedelta(0), timedelta(hours=2, minutes=30))
    ]
    assert [wait and wait.reason for wait in waits] == [WHY, None]
