"""Each night the totals are compared with their rows, and operators see the result."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time

import pytest
from sqlalchemy import update
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallStatus, EndedReason, Role
from app.models import ConversationDay, User
from app.services import conversations, figure_check
from app.services.calls import lifecycle
from tests.fixtures.cast import Tenant
from tests.fixtures.clock import SetClock, ids_wrong_by
from tests.fixtures.worker import make_line
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]


def check(session: Session) -> None:
    """The check of a day, as the worker runs it after midnight."""
    figure_check.keep(session, figure_check.counted(session, datetime.now(UTC).date()))
    session.commit()


def talk(session: Session) -> None:
    """Have two conversations and an ended call of today."""
    line, now = make_line(session), datetime.now(UTC)
    for _each in range(2):
        conversations.record(
            session,
            partner_id=line.partner_id,
            organization_id=line.organization_id,
            assistant_id=line.assistant_id,
            call_id=None,
            answered_by=AnsweredBy.HUMAN,
            started_at=datetime.combine(now.date(), datetime.min.time(), UTC),
            ended_at=now,
        )
    call = line.accept(session)
    call.status = CallStatus.DIALING
    lifecycle.end_call(session, call, CallStatus.BUSY, EndedReason.BUSY, at=now)
    session.commit()


@pytest.fixture
def talked(session: Session) -> None:
    talk(session)


def rows(page: str) -> list[tuple[str, ...]]:
    found = re.findall(
        r'class="name">([^<]*)</span>.*?class="end">([\d,]+)<.*?class="end">([\d,]+)<'
        r'.*?badge-\w+">([^<]*)<',
        page,
        re.DOTALL,
    )
    return list(found)


@pytest.mark.usefixtures("talked")
def test_totals_that_agree_with_their_rows_are_shown_so(
    session: Session, operator: Browser
) -> None:
    assert "Nothing checked yet" in operator.get("/operator/figures").text
    check(session)
    page = operator.get("/operator/figures").text
    assert rows(page) == [
        ("Conversations by organization", "2", "2", "Agrees"),
        ("Conversations by partner", "2", "2", "Agrees"),
        ("Ended calls by organization", "1", "1", "Agrees"),
    ]
    assert "All agree" in page


@pytest.mark.parametrize("wrong", [-40, 40])
def test_rows_whose_ids_are_of_another_day_by_a_wrong_clock_are_counted(
    session: Session, operator: Browser, wrong: int
) -> None:
    day = datetime.now(UTC).date()
    edge = datetime.combine(day, time(0, 0, 20) if wrong < 0 else time(23, 59, 40), UTC)
    with ids_wrong_by(seconds=(edge - datetime.now(UTC)).total_seconds() + wrong):
        talk(session)
    check(session)
    assert "All agree" in operator.get("/operator/figures").text


@pytest.mark.usefixtures("talked")
def test_a_total_that_differs_is_shown_in_red(session: Session, operator: Browser) -> None:
    session.execute(update(ConversationDay).values(conversations=5))
    check(session)
    page = operator.get("/operator/figures").text
    assert rows(page)[0] == ("Conversations by organization", "2", "5", "Off by 3")
    assert "1 difference" in page


def test_a_day_is_checked_once_an_hour_after_its_end(session: Session, clock: SetClock) -> None:
    due = []
    for hour in ("2026-10-16T00:30", "2026-10-16T01:00"):
        clock.set(hour)
        due.append(figure_check.is_due(session, clock.now))
    figure_check.keep(session, figure_check.counted(session, date(2026, 10, 15)))
    session.flush()
    due.append(figure_check.is_due(session, clock.now))
    assert due == [date(2026, 10, 14), date(2026, 10, 15), None]


def test_only_operators_see_the_check(own: Tenant, signed_in: SignedIn) -> None:
    admin = signed_in(own.staff[Role.PARTNER_ADMIN])
    assert admin.get("/operator/figures").status_code == 404
