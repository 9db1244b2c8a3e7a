"""The length and the cost of a call, by which lists are sorted."""

from datetime import timedelta
from decimal import Decimal

import pytest
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallStatus, CarrierKind, EndedReason, Role
from app.gateways.carriers.base import (
    CarrierEvent,
    CarrierEventKind,
    CarrierReport,
    PlacementVerdict,
)
from app.models import Call, CallAttempt, new_id, utcnow
from app.services import calls
from app.services.calls import (
    CallSearch,
    attempts,
    carrier_costs,
    carrier_reports,
    claims,
    lifecycle,
)
from tests.fixtures.clock import SetClock
from tests.fixtures.tenants import Tenant
from tests.fixtures.worker import make_calling_organization, postponed_attempt
from tests.portal.test_calls import NOON, make_call


@pytest.mark.parametrize(("answered_for", "seconds"), [(90.4, 90), (None, None), (-3, 0)], ids=str)
@pytest.mark.usefixtures("clock")
def test_a_call_has_its_length_at_its_end(
    session: Session, answered_for: float | None, seconds: int | None
) -> None:
    call, now = make_calling_organization(session).accept(session), utcnow()
    call.status = CallStatus.IN_PROGRESS
    if answered_for is not None:
        call.answered_at = now - timedelta(seconds=answered_for)
    lifecycle.end_call(session, call, CallStatus.COMPLETED, EndedReason.COMPLETED, at=now)
    assert call.seconds == seconds


@pytest.mark.usefixtures("clock")
def test_a_call_has_its_length_when_it_is_resolved(session: Session) -> None:
    call, now = make_calling_organization(session).accept(session), utcnow()
    call.status = CallStatus.DIALING
    lifecycle.end_call(session, call, CallStatus.UNKNOWN, EndedReason.UNKNOWN, at=now)
    assert call.seconds is None
    lifecycle.resolve(
        session,
        call,
        None,
        CallStatus.COMPLETED,
        EndedReason.COMPLETED,
        at=now,
        answered_at=now - timedelta(seconds=61),
        answered_by=AnsweredBy.HUMAN,
    )
    assert call.seconds == 61


def test_the_costs_of_all_attempts_add_up_once(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    call = calling_organization.accept(session, "+12125550101", carrier=CarrierKind.TWILIO)
    first = new_id()
    claims.next_step(session, call.id, first, calls_at_once=20)
    second = CallAttempt(
        organization_id=call.organization_id,
        call_id=call.id,
        number=2,
        carrier=CarrierKind.TWILIO,
        status=CallStatus.COMPLETED,
    )
    session.add(second)
    session.flush()
    for attempt_id, cost in ((first, "0.013"), (first, "0.5"), (second.id, "0.020001")):
        report = CarrierReport(PlacementVerdict.PLACED, "CA1", cost=Decimal(cost), currency="USD")
        carrier_costs.write_cost_of(session, attempt_id, report)
    assert call.cost_micros == 33_001


def test_the_cost_of_a_call_that_was_postponed_for_a_week_is_queried(
    session: Session, clock: SetClock
) -> None:
    call = make_calling_organization(session).accept(session, carrier=CarrierKind.TWILIO)
    attempt_id = postponed_attempt(session, call, clock, days=7)
    claims.next_step(session, call.id, attempt_id, calls_at_once=20)
    attempts.record_placed(session, attempt_id, "CA1")
    end = CarrierEvent(CarrierEventKind.ENDED, clock.now, reason=EndedReason.COMPLETED)
    carrier_reports.apply(session, attempt_id, CarrierReport(PlacementVerdict.PLACED, "CA1", [end]))
    due = carrier_costs.costs_due(session, CarrierKind.TWILIO, clock.now, 100)
    assert [inquiry.attempt_id for inquiry in due] == [attempt_id]


def test_unanswered_attempts_do_not_hide_the_costs_of_answered_ones(
    session: Session,
) -> None:
    call, now = make_calling_organization(session).accept(session), utcnow()
    made = [
        CallAttempt(
            id=new_id(),
            organization_id=call.organization_id,
            call_id=call.id,
            number=number,
            carrier=CarrierKind.TWILIO,
            carrier_reference=f"CA{number}",
            status=CallStatus.COMPLETED if number == 1 else CallStatus.BUSY,
            answered_at=now if number == 1 else None,
            ended_at=now,
        )
        for number in range(1, 4)
    ]
    session.add_all(made)
    session.flush()
    due = carrier_costs.costs_due(session, CarrierKind.TWILIO, now, 2)
    assert [inquiry.attempt_id for inquiry in due] == [made[0].id, made[2].id]


@pytest.mark.parametrize("role", [Role.PARTNER_ADMIN, Role.STANDARD])
@pytest.mark.parametrize(("sort", "column"), [("duration", "seconds"), ("cost", "cost_micros")])
def test_calls_are_sorted_by_length_and_cost_with_those_without_last(
    session: Session, tenant: Tenant, role: Role, sort: str, column: str
) -> None:
    most = 2**40 if column == "cost_micros" else 600
    values = [60, None, most, 60, None, 0]
    made = []
    for number, value in enumerate(values):
        at = NOON + timedelta(minutes=number)
        made.append(make_call(session, tenant.organization, "+12025550101", at, **{column: value}))

    def listed(name: str) -> list[Call]:
        found: list[Call] = []
        cursor = None
        while True:
            page = calls.search(
                session, tenant.caller(role), CallSearch(), sort=name, cursor=cursor, limit=2
            )
            found += page.items
            if (cursor := page.next_cursor) is None:
                return found

    order = [5, 0, 3, 2]
    assert [made.index(call) for call in listed(sort)] == [*order, 1, 4]
    assert [made.index(call) for call in listed(f"-{sort}")] == [*reversed(order), 4, 1]
