"""Spending limits as a script meets them: 409, or a call that waits and says until when."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.database import Database
from app.models import ApiKey, Call, new_id
from app.policy.caller import system_caller
from app.services import spending
from app.services.calls import claims
from app.services.calls.claims import ClaimKind
from app.services.spending import LimitSubject, SpendingLimits
from tests.api.public.conftest import Script
from tests.fixtures.clock import SetClock
from tests.fixtures.statements import counted
from tests.fixtures.worker import CallingOrganization

OPERATOR = system_caller("operator")


def limit(session: Session, subject: LimitSubject, **limits: Any) -> None:
    spending.change(session, OPERATOR, subject, SpendingLimits(**limits))
    session.commit()


@pytest.mark.usefixtures("clock")
def test_a_call_is_refused_at_the_limit_of_its_organization(
    session: Session, calling_organization: CallingOrganization, script: Script
) -> None:
    limit(
        session,
        LimitSubject(organization_id=calling_organization.organization_id),
        day_micros=1_799_999,
    )
    answer = script.call()
    body = answer.get_json()
    words = "The organization's spending limit for today is reached."
    assert (answer.status_code, body["success"], body["message"], body["details"]["code"]) == (
        409,
        False,
        words,
        "spend_cap_reached",
    )
    assert session.scalars(select(Call)).all() == []
    limit(
        session,
        LimitSubject(organization_id=calling_organization.organization_id),
        day_micros=1_800_000,
    )
    assert script.call().status_code == 200


@pytest.mark.usefixtures("clock")
def test_the_limit_of_a_key_stops_that_key_alone(
    session: Session,
    calling_organization: CallingOrganization,
    script: Script,
    make_script: Callable[..., Script],
) -> None:
    key = session.scalars(select(ApiKey)).one()
    limit(session, LimitSubject(api_key_id=key.id), month_minutes=59)
    answer = script.call()
    assert (answer.status_code, answer.get_json()["message"]) == (
        409,
        "The API key's limit of call minutes for this month is reached.",
    )
    assert make_script(calling_organization).call().status_code == 200


@pytest.mark.usefixtures("clock")
def test_a_test_key_is_never_stopped(
    session: Session, calling_organization: CallingOrganization, make_script: Callable[..., Script]
) -> None:
    limit(session, LimitSubject(partner_id=calling_organization.partner_id), day_micros=0)
    answer = make_script(calling_organization, live=False).call()
    assert (answer.status_code, answer.get_json()["status"]) == (200, "queued")


def test_a_call_that_waits_says_why_and_until_when(
    session: Session, calling_organization: CallingOrganization, script: Script, clock: SetClock
) -> None:
    clock.set("2026-10-15T12:00")
    limit(
        session,
        LimitSubject(organization_id=calling_organization.organization_id),
        day_micros=0,
        waits=True,
    )
    answer = script.call().get_json()
    why = "The organization's spending limit for today is reached."
    assert (answer["status"], answer["message"]) == (
        "scheduled",
        "The call is scheduled for 2026-10-16 00:00 UTC, the next moment at which it is allowed. "
        + why,
    )
    read = script.get(f"/outbound/calls/{answer['callId']}").get_json()
    assert (read["status"], read["scheduledFor"], read["statusDetail"]) == (
        "scheduled",
        "2026-10-16T00:00:00.000Z",
        why,
    )


@pytest.mark.usefixtures("clock")
def test_a_call_that_the_limit_stops_says_so(
    session: Session, calling_organization: CallingOrganization, script: Script
) -> None:
    call_id = script.call().get_json()["callId"]
    limit(session, LimitSubject(partner_id=calling_organization.partner_id), day_micros=0)
    [call] = session.scalars(select(Call))
    claims.next_step(session, call.id, new_id(), calls_at_once=5)
    session.commit()
    read = script.get(f"/outbound/calls/{call_id}").get_json()
    assert (read["status"], read["endedReason"], read["statusDetail"]) == (
        "canceled",
        "spend_cap_reached",
        "The portal's spending limit for today is reached.",
    )


@pytest.mark.usefixtures("clock")
def test_without_limits_claiming_calls_asks_for_them_in_one_statement(
    database: Database, session: Session, calling_organization: CallingOrganization
) -> None:
    call = calling_organization.accept(session)
    with counted(database.engine) as statements:
        claim = claims.next_step(session, call.id, new_id(), calls_at_once=5)
    assert claim.kind is ClaimKind.DIAL
    assert [("spending_" in each) for each in statements].count(True) == 1
