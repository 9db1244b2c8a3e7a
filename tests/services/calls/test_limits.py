"""Limits of calls: exact under concurrent requests, and explained to a call that has to wait."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import CallStatus, CarrierKind, EndedReason, Tier
from app.models import Call, CallAttempt, Organization, PlanLimit, new_id, utcnow
from app.services.calls import carrier_pace, claims, limits
from app.services.calls.claims import ClaimKind
from tests.fixtures.statements import counted
from tests.fixtures.worker import (
    CallingOrganization,
    create_calling_organization,
    make_calling_organization,
)

CLIENTS = 8


def ask(session: Session, calling_organization: CallingOrganization, number: int) -> UUID:
    return calling_organization.accept(session, f"+1202555{number:04}").id


def claimed_at_once(
    database: Database, call_ids: list[UUID], *, at_once: int = 20, per_second: float = 0
) -> list[ClaimKind]:
    """The results of eight workers, each with its own connection, for these calls."""

    def claim(call_id: UUID) -> ClaimKind:
        with database.transaction() as session:
            return claims.next_step(
                session,
                call_id,
                new_id(),
                calls_at_once=at_once,
                carrier_calls_per_second=per_second,
            ).kind

    with ThreadPoolExecutor(CLIENTS) as workers:
        return list(workers.map(claim, call_ids))


def test_eight_workers_together_respect_the_limit_of_calls_at_once(
    fresh_database: Database,
) -> None:
    calling_organization = create_calling_organization(fresh_database, max_calls_at_once=3)
    with fresh_database.transaction() as session:
        call_ids = [ask(session, calling_organization, number) for number in range(100, 116)]
    kinds = claimed_at_once(fresh_database, call_ids)
    assert (kinds.count(ClaimKind.DIAL), kinds.count(ClaimKind.WAIT)) == (3, 13)
    with fresh_database.transaction(read_only=True) as session:
        words = select(Call.status_detail, func.count()).group_by(Call.status_detail)
        assert {row[0]: row[1] for row in session.execute(words)} == {
            None: 3,
            "The organization's limit of 3 concurrent calls is reached.": 13,
        }


@pytest.mark.usefixtures("clock")
def test_eight_workers_together_respect_the_limit_of_calls_a_day(fresh_database: Database) -> None:
    calling_organization = create_calling_organization(fresh_database, max_calls_a_day=5)
    with fresh_database.transaction() as session:
        call_ids = [ask(session, calling_organization, number) for number in range(100, 116)]
    kinds = claimed_at_once(fresh_database, call_ids)
    with fresh_database.transaction(read_only=True) as session:
        states = select(Call.status, func.count()).group_by(Call.status)
        counted = {row[0]: row[1] for row in session.execute(states)}
        attempts = session.scalar(select(func.count()).select_from(CallAttempt))
    assert kinds.count(ClaimKind.DIAL) == attempts == 5
    assert counted == {CallStatus.DIALING: 5, CallStatus.SCHEDULED: 11}


@pytest.mark.usefixtures("clock")
def test_a_carrier_is_given_one_call_a_turn_by_all_workers(fresh_database: Database) -> None:
    calling_organization = create_calling_organization(fresh_database)
    with fresh_database.transaction() as session:
        call_ids = [ask(session, calling_organization, number) for number in range(100, 116)]
    kinds = claimed_at_once(fresh_database, call_ids, per_second=0.01)
    assert (kinds.count(ClaimKind.DIAL), kinds.count(ClaimKind.WAIT)) == (1, 15)


def test_calls_of_a_carrier_are_a_gap_apart_and_carriers_do_not_delay_each_other(
    session: Session,
) -> None:
    now = utcnow()
    tenth = timedelta(seconds=0.1)
    turns = [
        carrier_pace.take_turn(session, carrier, 10, now + later)
        for carrier, later in (
            (CarrierKind.TWILIO, timedelta(0)),
            (CarrierKind.TWILIO, tenth / 2),
            (CarrierKind.SIP, tenth / 2),
            (CarrierKind.TWILIO, tenth),
        )
    ]
    assert turns == [None, now + tenth, None, None]


@pytest.mark.parametrize(
    ("own", "of_plan", "most", "expected"),
    [(None, None, 5, 5), (2, None, 5, 2), (None, 3, 5, 3), (4, 3, 5, 3), (2, 3, 1, 1)],
)
def test_the_lowest_limit_of_calls_at_once_counts(
    session: Session, own: int | None, of_plan: int | None, most: int, expected: int
) -> None:
    organization = organization_of(session, limited(session, max_calls_at_once=of_plan))
    organization.max_calls_at_once = own
    assert limits.calls_at_once(organization, most) == expected


def test_calls_of_a_day_are_counted_against_the_plan_and_shown(session: Session) -> None:
    calling_organization = limited(session, max_calls_a_day=1)
    organization = organization_of(session, calling_organization)
    now = utcnow()
    assert limits.day_used_up(session, organization, now) is None
    session.add(
        CallAttempt(
            organization_id=organization.id,
            call_id=ask(session, calling_organization, 100),
            number=1,
            carrier=CarrierKind.SIMULATOR,
            status=CallStatus.BUSY,
            ended_reason=EndedReason.BUSY,
            started_at=now,
        )
    )
    session.flush()
    wait = limits.day_used_up(session, organization, now)
    assert wait is not None
    assert wait.reason == "The daily call limit of the organization's plan is reached."


def test_the_calls_of_a_day_are_read_only_near_the_limit(session: Session) -> None:
    line = limited(session, max_calls_a_day=2)
    organization, now = organization_of(session, line), utcnow()

    def add_attempt(number: int, *, live: bool) -> None:
        call_id = ask(session, line, number)
        session.get_one(Call, call_id).live = live
        session.add(
            CallAttempt(
                organization_id=organization.id,
                call_id=call_id,
                number=1,
                carrier=CarrierKind.SIMULATOR,
                status=CallStatus.BUSY,
                started_at=now,
            )
        )
        session.flush()

    def is_used_up() -> tuple[bool, bool]:
        """Also whether calls were read."""
        with counted(session.get_bind().engine) as statements:
            wait = limits.day_used_up(session, organization, now)
        return wait is not None, any("JOIN calls" in each for each in statements)

    add_attempt(100, live=True)
    assert is_used_up() == (False, False)
    add_attempt(101, live=False)
    assert is_used_up() == (False, True)
    add_attempt(102, live=True)
    assert is_used_up() == (True, True)


def test_an_organization_without_a_plan_has_the_limits_of_the_default(session: Session) -> None:
    calling_organization = make_calling_organization(session, payment_tier=None)
    free = PlanLimit(
        partner_id=calling_organization.partner_id, tier=Tier.FREE, max_calls_at_once=2
    )
    session.add_all([free, PlanLimit(partner_id=calling_organization.partner_id, tier=Tier.BASIC)])
    session.flush()
    assert limits.calls_at_once(organization_of(session, calling_organization), 5) == 2


def limited(session: Session, **of_plan: int | None) -> CallingOrganization:
    """An organization on the Basic plan, which has these limits."""
    calling_organization = make_calling_organization(session, payment_tier=Tier.BASIC)
    session.add(PlanLimit(partner_id=calling_organization.partner_id, tier=Tier.BASIC, **of_plan))
    session.flush()
    return calling_organization


def organization_of(session: Session, calling_organization: CallingOrganization) -> Organization:
    return session.get_one(Organization, calling_organization.organization_id)
