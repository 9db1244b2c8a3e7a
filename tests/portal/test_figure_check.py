"""Each night the totals are compared with their rows, and operators see the result."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time
from typing import Any

import pytest
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallStatus, CarrierKind, EndedReason, Role, Tier
from app.models import (
    CallAttempt,
    CallDay,
    ConversationDay,
    FigureCheck,
    Partner,
    PartnerTier,
    User,
    new_id,
)
from app.portal.web.formats import day
from app.services import conversations, figure_check, rollup, spending
from app.services.calls import claims, lifecycle
from app.services.spending import CallAmount, Spender
from tests.fixtures.clock import SetClock, ids_wrong_by
from tests.fixtures.tenants import Tenant
from tests.fixtures.worker import make_calling_organization
from tests.portal.conftest import Browser
from tests.portal.test_pricing import words

SignedIn = Callable[[User], Browser]


def check(session: Session) -> None:
    """Check today, again if it was checked before, as the worker checks a day after midnight."""
    session.execute(delete(FigureCheck))
    figure_check.store_checks(session, figure_check.compare_day(session, datetime.now(UTC).date()))
    session.commit()


def talk(session: Session) -> None:
    """Have two conversations and an ended call of today."""
    calling_organization, now = make_calling_organization(session), datetime.now(UTC)
    for _each in range(2):
        conversations.record(
            session,
            partner_id=calling_organization.partner_id,
            organization_id=calling_organization.organization_id,
            assistant_id=calling_organization.assistant_id,
            call_id=None,
            answered_by=AnsweredBy.HUMAN,
            started_at=datetime.combine(now.date(), datetime.min.time(), UTC),
            ended_at=now,
        )
    call = calling_organization.accept(session)
    call.status = CallStatus.DIALING
    lifecycle.end_call(session, call, CallStatus.BUSY, EndedReason.BUSY, at=now)
    session.commit()


@pytest.fixture
def stored_conversations(session: Session) -> None:
    talk(session)


def today() -> str:
    return " ".join(day(datetime.now(UTC).date()).split())


@pytest.mark.usefixtures("stored_conversations")
def test_totals_that_agree_with_their_rows_are_shown_so(
    session: Session, operator: Browser
) -> None:
    assert "Nothing checked yet" in operator.get("/operator/figures").text
    partner_id = session.scalars(select(Partner.id)).one()
    session.add(PartnerTier(partner_id=partner_id, tier=Tier.FREE, organizations=2))
    check(session)
    page = words(operator.get("/operator/figures").text)
    assert "Scope 1 partner, 2 organizations Result 5 of 5 comparisons agree Last check" in page
    assert f"{today()} 2 conversations, 1 ended call Agrees" in page
    assert "All agree" in page


def test_a_day_without_calls_says_so(session: Session, operator: Browser) -> None:
    check(session)
    page = words(operator.get("/operator/figures").text)
    assert f"{today()} No calls on this day Agrees" in page


@pytest.mark.parametrize("wrong", [-40, 40])
def test_rows_with_ids_of_another_day_by_a_wrong_clock_are_counted(
    session: Session, operator: Browser, wrong: int
) -> None:
    edge = datetime.combine(
        datetime.now(UTC).date(), time(0, 0, 20) if wrong < 0 else time(23, 59, 40), UTC
    )
    with ids_wrong_by(seconds=(edge - datetime.now(UTC)).total_seconds() + wrong):
        talk(session)
    check(session)
    assert "All agree" in operator.get("/operator/figures").text


@pytest.mark.usefixtures("stored_conversations")
def test_a_total_that_differs_is_shown_in_red(session: Session, operator: Browser) -> None:
    session.execute(update(ConversationDay).values(conversations=5))
    check(session)
    html = operator.get("/operator/figures").text
    date_of_today = datetime.now(UTC).date()
    assert (
        f"{today()} 2 conversations, 1 ended call Conversations by organization "
        "5 stored, 2 counted. 1 differs: Harbour Dental (5 stored, 2 counted) "
        "Show calls of this day"
    ) in words(html)
    assert f'href="/operator/calls?start={date_of_today}&amp;end={date_of_today}"' in html
    assert "1 difference" in html
    assert "4 of 5 comparisons agree" in html
    differs = f"1 stored total from {today()} to {today()} differs from its calls."
    installation, overview = (
        words(operator.get(path).text) for path in ("/operator/installation", "/")
    )
    assert f"Figure check Differences {differs}" in installation
    assert "Everything works" not in installation
    assert f"Figure check: differences {differs}" in overview


def test_a_day_is_checked_once_an_hour_after_its_end(session: Session, clock: SetClock) -> None:
    due = []
    for hour in ("2026-10-16T00:30", "2026-10-16T01:00"):
        clock.set(hour)
        due.append(figure_check.day_due(session, clock.now))
    figure_check.store_checks(session, figure_check.compare_day(session, date(2026, 10, 15)))
    session.flush()
    due.append(figure_check.day_due(session, clock.now))
    assert due == [date(2026, 10, 14), date(2026, 10, 15), None]


def test_only_operators_see_the_check(tenant: Tenant, signed_in: SignedIn) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    assert admin.get("/operator/figures").status_code == 404


@pytest.mark.usefixtures("stored_conversations")
def test_differences_of_organizations_that_cancel_out_are_shown(
    session: Session, operator: Browser
) -> None:
    session.execute(update(ConversationDay).values(conversations=1))
    day = session.scalars(select(ConversationDay)).one()
    calling_organization = make_calling_organization(session, name="Elm Dental")
    session.add(
        ConversationDay(
            organization_id=calling_organization.organization_id,
            partner_id=calling_organization.partner_id,
            day=day.day,
            conversations=1,
        )
    )
    check(session)
    page = words(operator.get("/operator/figures").text)
    assert "Conversations by organization 2 stored, 2 counted. 2 differ: " in page
    for shown in ("Harbour Dental (1 stored, 2 counted)", "Elm Dental (1 stored, 0 counted)"):
        assert shown in page
    assert "4 of 5 comparisons agree" in page


def test_billed_minutes_and_spending_are_compared(session: Session, operator: Browser) -> None:
    calling_organization, now = make_calling_organization(session), datetime.now(UTC)
    call = calling_organization.accept(session)
    attempt = CallAttempt(
        organization_id=call.organization_id,
        call_id=call.id,
        number=1,
        carrier=CarrierKind.TWILIO,
        status=CallStatus.COMPLETED,
        started_at=now,
        billed_minutes=3,
        charged_micros=450_000,
    )
    session.add(attempt)
    whose: dict[str, Any] = {
        "partner_id": calling_organization.partner_id,
        "organization_id": calling_organization.organization_id,
    }
    billed = {**whose, "day": now.date(), "campaign_id": None, "currency": "USD"}
    rollup.add_billing(session, **billed, calls=1, minutes=3)
    spending.add_spent(session, Spender.of(call), now, CallAmount(450_000, 180))
    session.commit()
    check(session)
    assert "5 of 5 comparisons agree" in words(operator.get("/operator/figures").text)
    attempt.billed_minutes, attempt.charged_micros = 2, 300_000
    session.commit()
    check(session)
    page = words(operator.get("/operator/figures").text)
    assert "Billed minutes by organization 3 stored, 2 counted. 1 differs: Harbour Dental" in page
    assert "Spending by organization $0.45 stored, $0.30 counted. 1 differs: Harbour Dental" in page


def test_a_call_that_waited_overnight_counts_on_the_day_of_its_attempt(
    session: Session, clock: SetClock
) -> None:
    clock.set(f"{datetime.now(UTC).date()}T12:00")
    call = make_calling_organization(session).accept(session)
    with ids_wrong_by(hours=-26):
        attempt_id = new_id()
    claims.next_step(session, call.id, attempt_id, calls_at_once=20)
    session.get_one(CallAttempt, attempt_id).charged_micros = 450_000
    spending.add_spent(session, Spender.of(call), clock.now, CallAmount(450_000, 180))
    session.flush()
    checks = figure_check.compare_day(session, clock.now.date())
    assert [each.figure for each in checks if each.differs] == []


def test_only_the_first_differences_are_named(session: Session, operator: Browser) -> None:
    for number in range(5):
        calling_organization = make_calling_organization(session, name=f"Practice {number}")
        session.add(
            CallDay(
                organization_id=calling_organization.organization_id,
                partner_id=calling_organization.partner_id,
                day=datetime.now(UTC).date(),
                ended=1,
            )
        )
    check(session)
    page = words(operator.get("/operator/figures").text)
    assert "5 stored, 0 counted. 5 differ: " in page
    assert page.count("(1 stored, 0 counted)") == figure_check.NAMED
    assert "and 2 more" in page
