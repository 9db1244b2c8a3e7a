"""Spending limits hold to the cent, however many workers dial, and settle at the real cost."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import AnsweredBy, CallSource, CallStatus, CarrierKind, EndedReason
from app.errors import Conflict
from app.gateways.carriers.base import (
    CarrierEvent,
    CarrierEventKind,
    CarrierReport,
    PlacementVerdict,
)
from app.models import Call, CallAttempt, SpendingLimit, SpendingTotal, new_id, utcnow
from app.services import spending
from app.services.calls import attempts, carrier_costs, carrier_reports, claims, lifecycle
from app.services.calls.claims import ClaimKind
from app.services.calls.states import lock_attempt
from tests.fixtures.clock import SetClock
from tests.fixtures.statements import counted
from tests.fixtures.worker import (
    CallingOrganization,
    create_calling_organization,
    make_calling_organization,
)

CLIENTS = 8
CENT = 10_000
CALL_MICROS = 180 * CENT
"""The amount that an hour reserves at the default rate to the United States."""


def limit(
    session: Session, calling_organization: CallingOrganization, kind: str, **more: int | bool
) -> None:
    """Set a spending limit of the partner, the organization or the key."""
    ids = {
        "partner": calling_organization.partner_id,
        "organization": calling_organization.organization_id,
        "key": calling_organization.key.subject_id,
    }
    session.add(
        SpendingLimit(
            scope=f"{kind}:{ids[kind]}",
            partner_id=calling_organization.partner_id,
            organization_id=None if kind == "partner" else calling_organization.organization_id,
            **more,
        )
    )
    session.flush()


def total(
    session: Session, calling_organization: CallingOrganization, kind: str = "organization"
) -> tuple[int, int, int, int]:
    """What is spent and reserved today: money, then seconds."""
    owner = (
        calling_organization.organization_id
        if kind == "organization"
        else calling_organization.partner_id
    )
    total = SpendingTotal
    query = select(
        total.spent_micros, total.reserved_micros, total.spent_seconds, total.reserved_seconds
    ).where(total.scope == f"{kind}:{owner}", total.period == utcnow().date().isoformat())
    row = session.execute(query).one_or_none()
    return (0, 0, 0, 0) if row is None else (row[0], row[1], row[2], row[3])


def claimed(
    session: Session, calling_organization: CallingOrganization, **how: Any
) -> tuple[Call, UUID]:
    """A call that was accepted and claimed, and its attempt."""
    call, attempt_id = calling_organization.accept(session, **how), new_id()
    claim = claims.next_step(session, call.id, attempt_id, calls_at_once=50)
    assert claim.kind is ClaimKind.DIAL
    return call, attempt_id


def ended(
    session: Session, attempt_id: UUID, seconds: float | None, cost: str | None = None
) -> None:
    """Report the end of a call that was answered for this long, or not at all, as the carrier
    does."""
    now = utcnow()
    events = [CarrierEvent(CarrierEventKind.ENDED, now, reason=EndedReason.NO_ANSWER)]
    if seconds is not None:
        answered = CarrierEvent(CarrierEventKind.ANSWERED, now)
        at = now + timedelta(seconds=seconds)
        end = CarrierEvent(CarrierEventKind.ENDED, at, reason=EndedReason.COMPLETED)
        events = [answered, end]
    report = CarrierReport(
        PlacementVerdict.PLACED,
        "reference",
        events,
        cost=Decimal(cost) if cost else None,
        currency="USD" if cost else None,
    )
    carrier_reports.apply(session, attempt_id, report)
    session.flush()


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("kind", ["partner", "organization", "key"])
def test_eight_workers_together_keep_a_limit_to_the_cent(
    fresh_database: Database, kind: str
) -> None:
    calling_organization = create_calling_organization(fresh_database)
    with fresh_database.transaction() as session:
        call_ids = [
            calling_organization.accept(session, f"+1202555{number:04}").id
            for number in range(100, 132)
        ]
        limit(session, calling_organization, kind, day_micros=5 * CALL_MICROS)

    def place(call_id: UUID) -> ClaimKind:
        attempt_id = new_id()
        with fresh_database.transaction() as session:
            kind = claims.next_step(session, call_id, attempt_id, calls_at_once=50).kind
        if kind is ClaimKind.DIAL:
            with fresh_database.transaction() as session:
                ended(session, attempt_id, seconds=3600)
        return kind

    with ThreadPoolExecutor(CLIENTS) as workers:
        kinds = list(workers.map(place, call_ids))
    with fresh_database.transaction(read_only=True) as session:
        assert kinds.count(ClaimKind.DIAL) == 5
        assert total(session, calling_organization) == (5 * CALL_MICROS, 0, 5 * 3600, 0)
        assert total(session, calling_organization, "partner") == (5 * CALL_MICROS, 0, 5 * 3600, 0)
        reasons = select(Call.ended_reason, func.count()).group_by(Call.ended_reason)
        waiting = kinds.count(ClaimKind.WAIT)
        counted = {row[0]: row[1] for row in session.execute(reasons)}
    assert (counted[EndedReason.COMPLETED], counted.get(None, 0)) == (5, waiting)
    assert counted.get(EndedReason.SPENDING_LIMIT_REACHED, 0) == 27 - waiting


@pytest.mark.usefixtures("clock")
def test_eight_workers_reserve_no_cent_more_than_the_limit(fresh_database: Database) -> None:
    calling_organization = create_calling_organization(fresh_database)
    with fresh_database.transaction() as session:
        call_ids = [
            calling_organization.accept(session, f"+1202555{number:04}").id
            for number in range(100, 124)
        ]
        limit(
            session,
            calling_organization,
            "organization",
            month_micros=4 * CALL_MICROS - 1,
            waits=True,
        )

    def place(call_id: UUID) -> ClaimKind:
        with fresh_database.transaction() as session:
            return claims.next_step(session, call_id, new_id(), calls_at_once=50).kind

    with ThreadPoolExecutor(CLIENTS) as workers:
        kinds = list(workers.map(place, call_ids))
    assert (kinds.count(ClaimKind.DIAL), kinds.count(ClaimKind.WAIT)) == (3, 21)
    with fresh_database.transaction(read_only=True) as session:
        assert total(session, calling_organization) == (0, 3 * CALL_MICROS, 0, 3 * 3600)


@pytest.mark.usefixtures("clock")
def test_an_ended_call_is_charged_by_its_length_and_releases_the_rest(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    limit(session, calling_organization, "organization", day_micros=10 * CALL_MICROS)
    _, attempt_id = claimed(session, calling_organization)
    assert total(session, calling_organization) == (0, CALL_MICROS, 0, 3600)
    ended(session, attempt_id, seconds=61)
    assert total(session, calling_organization) == (6 * CENT, 0, 120, 0)


@pytest.mark.usefixtures("clock")
def test_an_unanswered_call_costs_nothing(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    limit(session, calling_organization, "organization", day_micros=10 * CALL_MICROS)
    _, attempt_id = claimed(session, calling_organization)
    ended(session, attempt_id, seconds=None)
    assert total(session, calling_organization) == (0, 0, 0, 0)


@pytest.mark.usefixtures("clock")
def test_the_carriers_cost_counts_and_corrects_the_total_when_it_comes_later(
    session: Session,
) -> None:
    calling_organization = make_calling_organization(session)
    limit(session, calling_organization, "organization", day_micros=10 * CALL_MICROS)
    _, first = claimed(session, calling_organization)
    ended(session, first, seconds=30, cost="0.0135")
    assert total(session, calling_organization) == (13_500, 0, 60, 0)
    _, second = claimed(session, calling_organization, number="+12025550102")
    ended(session, second, seconds=30)
    assert total(session, calling_organization) == (13_500 + 3 * CENT, 0, 120, 0)
    report = CarrierReport(PlacementVerdict.PLACED, "other", cost=Decimal("0.07"), currency="USD")
    carrier_costs.write_cost_of(session, second, report)
    session.flush()
    assert total(session, calling_organization) == (13_500 + 7 * CENT, 0, 120, 0)


@pytest.mark.usefixtures("clock")
def test_a_cost_in_another_currency_is_not_counted(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    _, attempt_id = claimed(session, calling_organization)
    ended(session, attempt_id, seconds=30)
    report = CarrierReport(PlacementVerdict.PLACED, "other", cost=Decimal("0.07"), currency="EUR")
    carrier_costs.write_cost_of(session, attempt_id, report)
    assert total(session, calling_organization) == (3 * CENT, 0, 60, 0)


@pytest.mark.usefixtures("clock")
def test_an_unknown_attempt_keeps_its_reservation_until_it_is_resolved(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    limit(session, calling_organization, "organization", day_micros=10 * CALL_MICROS)
    _, attempt_id = claimed(session, calling_organization)
    attempts.end_unknown(session, attempt_id)
    session.flush()
    assert total(session, calling_organization) == (0, CALL_MICROS, 0, 3600)
    call, attempt = lock_attempt(session, attempt_id)
    lifecycle.resolve(
        session, call, attempt, CallStatus.NO_ANSWER, EndedReason.NO_ANSWER, at=utcnow()
    )
    session.flush()
    assert total(session, calling_organization) == (0, 0, 0, 0)


@pytest.mark.parametrize("is_unknown", [False, True])
def test_an_ended_call_locks_the_spending_totals_after_all_other_sums(
    session: Session, is_unknown: bool
) -> None:
    calling_organization = make_calling_organization(session)
    limit(session, calling_organization, "organization", day_micros=CALL_MICROS)
    call, attempt_id = claimed(session, calling_organization)
    if is_unknown:
        attempts.end_unknown(session, attempt_id)
    _, attempt = lock_attempt(session, attempt_id)
    end = CallStatus.COMPLETED, EndedReason.COMPLETED
    attempt.answered_at = now = utcnow()
    with counted(session.get_bind().engine) as statements:
        if is_unknown:
            human = AnsweredBy.HUMAN
            lifecycle.resolve(
                session, call, attempt, *end, at=now, answered_at=now, answered_by=human
            )
        else:
            lifecycle.end_attempt(session, call, attempt, *end, at=now)
    tables = [statement.split()[2] for statement in statements if statement.startswith("INSERT")]
    sums = [table for table in tables if table.endswith("_days") or table == "spending_totals"]
    first = sums.index("spending_totals")
    assert {"call_days", "conversation_days"} <= set(sums[:first])
    assert set(sums[first:]) == {"spending_totals"}


@pytest.mark.usefixtures("clock")
def test_an_attempt_that_was_never_placed_releases_its_reservation(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    limit(session, calling_organization, "organization", day_micros=10 * CALL_MICROS)
    _, attempt_id = claimed(session, calling_organization)
    attempts.record_never_placed(session, attempt_id)
    session.flush()
    assert total(session, calling_organization) == (0, 0, 0, 0)


@pytest.mark.usefixtures("clock")
def test_a_call_of_a_test_key_reserves_and_costs_nothing(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    limit(session, calling_organization, "organization", day_micros=0)
    _, attempt_id = claimed(session, calling_organization, live=False)
    ended(session, attempt_id, seconds=600)
    assert session.scalar(select(func.count()).select_from(SpendingTotal)) == 0


@pytest.mark.usefixtures("clock")
def test_a_test_call_on_the_simulated_carrier_needs_no_room_and_costs_nothing(
    session: Session,
) -> None:
    calling_organization = make_calling_organization(session)
    limit(session, calling_organization, "organization", day_micros=0)
    _, attempt_id = claimed(session, calling_organization, source=CallSource.TEST)
    ended(session, attempt_id, seconds=600)
    assert session.scalar(select(func.count()).select_from(SpendingTotal)) == 0
    with pytest.raises(Conflict, match="spending limit for today"):
        calling_organization.accept(session, source=CallSource.TEST, carrier=CarrierKind.TWILIO)


@pytest.mark.usefixtures("clock")
def test_without_limits_nothing_is_reserved_and_the_cost_is_counted(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    _, attempt_id = claimed(session, calling_organization)
    attempt = session.get_one(CallAttempt, attempt_id)
    assert (attempt.reserved_micros, total(session, calling_organization)) == (0, (0, 0, 0, 0))
    ended(session, attempt_id, seconds=90)
    assert (
        total(session, calling_organization)
        == total(session, calling_organization, "partner")
        == (6 * CENT, 0, 120, 0)
    )


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"day_micros": CALL_MICROS - 1}, "spending limit for today"),
        ({"month_micros": CALL_MICROS - 1}, "spending limit for this month"),
        ({"day_minutes": 59}, "limit of call minutes for today"),
        ({"month_minutes": 59}, "limit of call minutes for this month"),
    ],
)
@pytest.mark.parametrize(
    ("kind", "whose"),
    [
        ("partner", "The portal's"),
        ("organization", "The organization's"),
        ("key", "The API key's"),
    ],
)
def test_a_direct_call_without_room_is_refused(
    session: Session, kind: str, whose: str, limits: dict[str, int], words: str
) -> None:
    calling_organization = make_calling_organization(session)
    limit(session, calling_organization, kind, **limits)
    with pytest.raises(Conflict) as refused:
        calling_organization.accept(session)
    assert (refused.value.code, refused.value.message) == (
        "spend_cap_reached",
        f"{whose} {words} is reached.",
    )


def test_a_call_waits_for_the_next_day_or_month_by_setting(
    session: Session, clock: SetClock
) -> None:
    clock.set("2026-12-31T12:00")
    calling_organization = make_calling_organization(session)
    limit(session, calling_organization, "organization", day_micros=0, waits=True)
    call = calling_organization.accept(session)
    assert (call.status, call.scheduled_for and call.scheduled_for.isoformat()) == (
        CallStatus.SCHEDULED,
        "2027-01-01T00:00:00+00:00",
    )
    assert call.status_detail == "The organization's spending limit for today is reached."


@pytest.mark.usefixtures("clock")
def test_a_call_of_a_campaign_always_waits(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    limit(session, calling_organization, "partner", month_micros=0)
    call = calling_organization.accept(session, source=CallSource.CAMPAIGN)
    assert (call.status, call.scheduled_for and call.scheduled_for.isoformat()) == (
        CallStatus.SCHEDULED,
        "2026-11-01T00:00:00+00:00",
    )


@pytest.mark.usefixtures("clock")
def test_an_accepted_call_that_finds_the_money_spent_ends(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    call = calling_organization.accept(session)
    limit(session, calling_organization, "organization", day_micros=0)
    claim = claims.next_step(session, call.id, new_id(), calls_at_once=5)
    assert (claim.kind, call.status, call.ended_reason, call.status_detail) == (
        ClaimKind.DONE,
        CallStatus.CANCELED,
        EndedReason.SPENDING_LIMIT_REACHED,
        "The organization's spending limit for today is reached.",
    )


@pytest.mark.usefixtures("clock")
def test_a_call_waits_for_its_turn_while_others_have_reserved_the_rest(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    waiting = calling_organization.accept(session, "+12025550102")
    limit(session, calling_organization, "organization", day_micros=CALL_MICROS + CENT)
    _, attempt_id = claimed(session, calling_organization)

    def claim() -> ClaimKind:
        return claims.next_step(session, waiting.id, new_id(), calls_at_once=5).kind

    assert (claim(), waiting.status) == (ClaimKind.WAIT, CallStatus.QUEUED)
    ended(session, attempt_id, seconds=None)
    assert claim() is ClaimKind.DIAL


@pytest.mark.usefixtures("clock")
def test_a_limit_of_one_key_leaves_others_alone(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    limit(session, calling_organization, "key", day_micros=0)
    assert (
        calling_organization.accept(session, source=CallSource.LEGACY).status is CallStatus.QUEUED
    )
    spender = spending.Spender(
        calling_organization.partner_id, calling_organization.organization_id, new_id()
    )
    assert spending.check(session, spender, "+12025550101", utcnow()) is None


@pytest.mark.usefixtures("clock")
def test_a_call_without_room_in_a_limit_takes_no_turn_of_the_carrier(session: Session) -> None:
    limited, other = make_calling_organization(session), make_calling_organization(session)
    limit(session, limited, "organization", day_micros=CALL_MICROS, waits=True)
    waiting = [limited.accept(session).id for _ in range(2)]
    claims.next_step(session, waiting[0], new_id(), calls_at_once=5)
    kinds = [
        claims.next_step(
            session, call_id, new_id(), calls_at_once=5, carrier_calls_per_second=0.01
        ).kind
        for call_id in (waiting[1], other.accept(session).id)
    ]
    assert kinds == [ClaimKind.WAIT, ClaimKind.DIAL]
