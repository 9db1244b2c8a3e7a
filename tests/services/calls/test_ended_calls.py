"""Each call that reached the carrier is counted on the day it ended, once."""

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallSource, CallStatus, EndedReason
from app.models import CallDay, utcnow
from app.services.calls import lifecycle
from tests.fixtures.worker import CallingOrganization, make_calling_organization

Counts = list[tuple[UUID, int, int, int]]


def counted(session: Session) -> Counts:
    rows = session.scalars(select(CallDay))
    return [(row.organization_id, row.ended, row.answered, row.failed) for row in rows]


def end(
    session: Session, calling_organization: CallingOrganization, status: CallStatus, **how: Any
) -> None:
    call = calling_organization.accept(session, **how)
    call.status = CallStatus.DIALING
    lifecycle.end_call(session, call, status, EndedReason.COMPLETED, at=utcnow())


@pytest.mark.usefixtures("clock")
def test_only_calls_that_reached_the_carrier_are_counted(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    for status in (
        CallStatus.COMPLETED,
        CallStatus.COMPLETED,
        CallStatus.BUSY,
        CallStatus.NO_ANSWER,
        CallStatus.FAILED,
        CallStatus.EXPIRED,
        CallStatus.CANCELED,
        CallStatus.UNKNOWN,
    ):
        end(session, calling_organization, status)
    assert counted(session) == [(calling_organization.organization_id, 5, 2, 1)]


@pytest.mark.usefixtures("clock")
def test_calls_that_are_no_usage_are_not_counted(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    end(session, calling_organization, CallStatus.COMPLETED, live=False)
    end(session, calling_organization, CallStatus.COMPLETED, source=CallSource.VERIFICATION)
    end(session, calling_organization, CallStatus.COMPLETED, source=CallSource.TEST)
    assert counted(session) == []


@pytest.mark.usefixtures("clock")
def test_an_unknown_call_is_counted_when_it_is_resolved(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    call = calling_organization.accept(session)
    call.status = CallStatus.DIALING
    lifecycle.end_call(session, call, CallStatus.UNKNOWN, EndedReason.UNKNOWN, at=utcnow())
    lifecycle.resolve(
        session,
        call,
        None,
        CallStatus.COMPLETED,
        EndedReason.COMPLETED,
        at=utcnow(),
        answered_at=utcnow(),
        answered_by=AnsweredBy.HUMAN,
    )
    assert counted(session) == [(calling_organization.organization_id, 1, 1, 0)]
