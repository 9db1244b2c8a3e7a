"""The calls of all partners, for operators: everything but the person called."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy.orm import Session

from app.enums import CallStatus, CarrierKind, EndedReason, Role
from app.errors import Forbidden
from app.models import Call, User
from app.services.calls import of_partners
from app.services.calls.of_partners import Wanted
from tests.fixtures.cast import OPERATOR, Tenant
from tests.portal.conftest import Browser
from tests.portal.test_calls import make_call

SignedIn = Callable[[User], Browser]
NUMBER, PERSON = "+442079460123", "Ada"


@pytest.fixture
def calls(session: Session, own: Tenant, other: Tenant) -> dict[str, Call]:
    ended: dict[str, Any] = {"status": CallStatus.FAILED, "ended_reason": EndedReason.CARRIER_ERROR}
    made = {
        "own": make_call(session, own.organization, NUMBER, seconds=61, cost_micros=20_500),
        "other": make_call(
            session, other.organization, NUMBER, **ended, carrier=CarrierKind.TWILIO
        ),
    }
    session.commit()
    return made


def test_an_operator_reads_and_filters_the_calls_of_all_partners(
    session: Session, calls: dict[str, Call], own: Tenant
) -> None:
    def found(**wanted: object) -> set[str]:
        page = of_partners.search(session, OPERATOR, Wanted(**wanted))  # type: ignore[arg-type]  # its fields
        listed = {row.id for row in page.items}
        return {name for name, call in calls.items() if call.id in listed}

    assert found() == {"own", "other"}
    assert found(partner=own.partner.id) == {"own"}
    assert found(partner=own.partner.name[:5].upper()) == {"own"}
    assert found(carrier=CarrierKind.TWILIO) == {"other"}
    assert found(states=frozenset({CallStatus.FAILED})) == {"other"}
    assert found(since=calls["own"].expires_at) == set()
    assert found(before=calls["own"].expires_at) == {"own", "other"}


@pytest.mark.parametrize("role", [Role.PARTNER_ADMIN, Role.ADMIN, Role.OWNER, Role.STANDARD])
def test_only_operators_read_the_calls_of_all_partners(
    session: Session, own: Tenant, signed_in: SignedIn, role: Role
) -> None:
    with pytest.raises(Forbidden):
        of_partners.search(session, own.caller(role), Wanted())
    user = own.user if role in (Role.OWNER, Role.STANDARD) else own.staff[role]
    browser = signed_in(user)
    for path in ("/operator/calls", "/lists/partner-calls/export.csv"):
        assert browser.get(path).status_code == 404


@pytest.mark.usefixtures("calls")
def test_neither_the_page_nor_its_files_hold_the_person_called(
    own: Tenant, operator: Browser
) -> None:
    every = "&".join(f"column={name}" for name in ("organization", "country", "cost", "duration"))
    path = f"partner={own.partner.id}&{every}"
    page = operator.get(f"/operator/calls?{path}").text
    file = operator.get(f"/lists/partner-calls/export.csv?{path}").data.decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(file)))
    name = own.organization.name
    assert rows[1:] == [[name, "United Kingdom", "61", "0.0205"]]
    assert [name in page, "United Kingdom" in page] == [True, True]
    for text in (page, file):
        assert [secret for secret in (NUMBER[-4:], PERSON) if secret in text] == []


def test_a_partners_page_and_the_installation_lead_to_its_calls(
    own: Tenant, operator: Browser
) -> None:
    partner = operator.get(f"/operator/partners/{own.partner.id}").text
    assert f'href="/operator/calls?partner={own.partner.id}"' in partner
    assert 'href="/operator/calls"' in operator.get("/operator/installation").text


def test_a_partner_that_does_not_exist_is_missing(operator: Browser) -> None:
    missing = "/operator/calls?partner=00000000-0000-0000-0000-000000000000"
    assert operator.get(missing).status_code == 404
