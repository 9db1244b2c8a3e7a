"""The calls of all partners, for operators: everything but the person called."""

import csv
import io
import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from sqlalchemy.orm import Session

from app.enums import CallStatus, CarrierKind, EndedReason, Role
from app.errors import Forbidden
from app.gateways import job_queue
from app.models import Call, CallAttempt, User, utcnow
from app.services.calls import operator_search, resolve
from app.services.calls.operator_search import PartnerCallFilter
from tests.fixtures.recount import recount
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import Browser
from tests.portal.test_calls import answered, make_call

SignedIn = Callable[[User], Browser]
NUMBER, PERSON = "+442079460123", "Ada"


@pytest.fixture
def calls(session: Session, tenant: Tenant, other_tenant: Tenant) -> dict[str, Call]:
    ended: dict[str, Any] = {"status": CallStatus.FAILED, "ended_reason": EndedReason.CARRIER_ERROR}
    made = {
        "own": make_call(session, tenant.organization, NUMBER, seconds=61, cost_micros=20_500),
        "other": make_call(
            session, other_tenant.organization, NUMBER, **ended, carrier=CarrierKind.TWILIO
        ),
    }
    session.commit()
    return made


def test_an_operator_reads_and_filters_the_calls_of_all_partners(
    session: Session, calls: dict[str, Call], tenant: Tenant, other_tenant: Tenant
) -> None:
    def found(**wanted: Any) -> set[str]:
        page = operator_search.search(session, OPERATOR, PartnerCallFilter(**wanted))
        listed = {row.id for row in page.items}
        return {name for name, call in calls.items() if call.id in listed}

    assert found() == {"own", "other"}
    assert found(partner=tenant.partner.id) == {"own"}
    assert found(partner=tenant.partner.name[:5].upper()) == {"own"}
    assert found(organization=other_tenant.organization.id) == {"other"}
    assert found(organization=tenant.organization.name[2:].upper()) == {"own"}
    assert found(organization="no such organization") == set()
    assert found(carrier=CarrierKind.TWILIO) == {"other"}
    assert found(states=frozenset({CallStatus.FAILED})) == {"other"}
    assert found(since=calls["own"].expires_at) == set()
    assert found(before=calls["own"].expires_at) == {"own", "other"}


@pytest.mark.parametrize("role", [Role.PARTNER_ADMIN, Role.ADMIN, Role.OWNER, Role.STANDARD])
def test_only_operators_read_the_calls_of_all_partners(
    session: Session, tenant: Tenant, signed_in: SignedIn, role: Role
) -> None:
    with pytest.raises(Forbidden):
        operator_search.search(session, tenant.caller(role), PartnerCallFilter())
    user = tenant.user if role in (Role.OWNER, Role.STANDARD) else tenant.staff[role]
    browser = signed_in(user)
    for path in ("/operator/calls", "/lists/partner-calls/export.csv"):
        assert browser.get(path).status_code == 404


@pytest.mark.usefixtures("calls")
def test_the_page_and_its_files_do_not_name_the_called_person(
    tenant: Tenant, operator: Browser
) -> None:
    every = "&".join(f"column={name}" for name in ("organization", "country", "cost", "duration"))
    path = f"partner={tenant.partner.id}&{every}"
    page = operator.get(f"/operator/calls?{path}").text
    file = operator.get(f"/lists/partner-calls/export.csv?{path}").data.decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(file)))
    name = tenant.organization.name
    assert rows[1:] == [[name, "United Kingdom", "61", "0.0205"]]
    assert name in page
    assert "United Kingdom" in page
    for text in (page, file):
        assert [secret for secret in (NUMBER[-4:], PERSON) if secret in text] == []


def test_a_partners_page_and_the_installation_lead_to_its_calls(
    tenant: Tenant, operator: Browser
) -> None:
    partner = operator.get(f"/operator/partners/{tenant.partner.id}").text
    month = f"{utcnow():%Y-%m-01}"
    calls = f"/operator/calls?partner={tenant.partner.id}"
    assert re.findall(f'href="({re.escape(calls)}[^"]*)"', partner) == [
        f"{calls}&amp;counted=yes&amp;start={month}",
        f"{calls}&amp;state=failed&amp;within=24-hours",
    ]
    assert 'href="/operator/calls"' in operator.get("/operator/installation").text


def test_the_conversations_of_a_partner_lead_to_as_many_calls(
    session: Session, tenant: Tenant, operator: Browser
) -> None:
    now = utcnow()
    make_call(session, tenant.organization, NUMBER, now, **answered(at=now))
    make_call(session, tenant.organization, NUMBER, now, **answered(at=now), live=False)
    session.commit()
    recount(session, tenant.partner.id)
    session.commit()
    page = operator.get(f"/operator/partners/{tenant.partner.id}").text
    shown = re.search(r'href="([^"]*counted=yes[^"]*)"[^>]*>([^<]+)<', page)
    assert shown
    assert shown[2] == "1"
    listed = operator.get(unescape(shown[1])).text
    assert "Calls counted in usage, by the UTC day they were answered." in listed
    assert listed.count(f'href="/organizations/{tenant.organization.id}"') == 1


def test_a_phone_shows_the_outcome_only_where_it_says_more_than_the_status(
    session: Session, tenant: Tenant, operator: Browser
) -> None:
    for status, reason, seconds in (
        (CallStatus.BUSY, EndedReason.BUSY, None),
        (CallStatus.FAILED, EndedReason.CARRIER_ERROR, None),
        (CallStatus.COMPLETED, EndedReason.COMPLETED, 61),
    ):
        ended: dict[str, Any] = {"status": status, "ended_reason": reason}
        make_call(session, tenant.organization, NUMBER, **ended, seconds=seconds)
    session.commit()
    page = unescape(operator.get("/operator/calls").text).replace("\N{NO-BREAK SPACE}", " ")
    shown = re.findall(r'<span class="cell-sub below-laptop">([^<]+)</span>', page)
    assert sorted(shown) == ["Carrier error", "Conversation · 1 min 1 s"]


def test_a_failed_call_names_the_reference_by_which_the_carrier_knows_it(
    session: Session, calls: dict[str, Call], operator: Browser
) -> None:
    for name, call in calls.items():
        attempt = CallAttempt(
            organization_id=call.organization_id,
            call_id=call.id,
            number=1,
            carrier=call.carrier,
            status=call.status,
            from_number=NUMBER,
            carrier_reference=f"CA-{name}",
            started_at=call.created_at,
        )
        session.add(attempt)
    session.commit()
    page = operator.get("/operator/calls").text
    assert "CA-other" in page
    assert "CA-own" not in page
    file = operator.get("/lists/partner-calls/export.csv?column=reference").text
    assert "CA-other" in file
    assert "CA-own" in file


@pytest.mark.usefixtures("calls")
def test_the_filter_by_an_organization_shows_its_name(tenant: Tenant, operator: Browser) -> None:
    page = operator.get(f"/operator/calls?organization={tenant.organization.id}").text
    [box] = re.findall(r'<input[^>]*type="search"[^>]*name="organization"[^>]*>', page)
    assert f'value="{tenant.organization.name}"' in box


@pytest.mark.parametrize("name", ["partner", "organization"])
def test_a_partner_or_organization_that_does_not_exist_is_not_found(
    operator: Browser, name: str
) -> None:
    missing = f"/operator/calls?{name}=00000000-0000-0000-0000-000000000000"
    assert operator.get(missing).status_code == 404


STATUS = "/carriers"


@pytest.fixture
def stuck_calls(session: Session, tenant: Tenant) -> dict[str, Call]:
    past = utcnow() - timedelta(hours=2)
    made = {
        "unknown": make_call(
            session, tenant.organization, NUMBER, status=CallStatus.UNKNOWN, ended_at=past
        ),
        "overdue": make_call(
            session, tenant.plus, NUMBER, status=CallStatus.QUEUED, scheduled_for=past
        ),
    }
    make_call(session, tenant.plus, NUMBER, status=CallStatus.COMPLETED)
    session.commit()
    return made


def test_calls_that_need_attention_are_listed_with_what_to_do(
    stuck_calls: dict[str, Call], operator: Browser
) -> None:
    page = operator.get(STATUS).text
    part = page.partition('id="stuck-calls"')[2].partition("</table>")[0]
    pages = {name: f"/operator/stuck-calls/{call.id}" for name, call in stuck_calls.items()}
    assert set(re.findall(r'class="name" href="([^"]+)"', part)) == set(pages.values())
    assert re.findall(r'action="([^"]+)"', part) == [f"{pages['overdue']}/queue"]
    assert "2 hours" in part
    assert NUMBER not in page
    assert "The carrier can’t say what happened." in operator.get(pages["unknown"]).text
    assert "Queue again" not in operator.get(pages["unknown"]).text


def test_an_operator_sets_the_outcome_of_a_call_once(
    session: Session, stuck_calls: dict[str, Call], operator: Browser
) -> None:
    page = f"/operator/stuck-calls/{stuck_calls['unknown'].id}"
    refused = operator.post(page, {"outcome": "", "reason": " "}, page=page)
    assert refused.status_code == 422
    assert 'id="outcome-error"' in refused.text
    assert 'id="reason-error"' in refused.text
    typed = {"outcome": "failed", "reason": "The carrier’s log says so."}
    saved = operator.post(page, typed, page=page)
    assert (saved.status_code, saved.location) == (303, STATUS)
    session.expire_all()
    assert session.get_one(Call, stuck_calls["unknown"].id).status is CallStatus.FAILED
    assert "The outcome is saved." in operator.get(STATUS).text
    operator.post(page, typed, page=STATUS)
    assert "This call needs no attention any more." in operator.get(STATUS).text


def test_an_overdue_call_is_queued_again_and_never_completed(
    session: Session, stuck_calls: dict[str, Call], operator: Browser
) -> None:
    page = f"/operator/stuck-calls/{stuck_calls['overdue'].id}"
    typed = {"outcome": "completed", "reason": "I was told."}
    refused = operator.post(page, typed, page=page)
    assert refused.status_code == 422
    assert "This call was never placed." in refused.text
    before = waiting(session)
    queued = operator.post(f"{page}/queue", page=page)
    assert (queued.status_code, queued.location) == (303, STATUS)
    assert waiting(session) == before + 1


def waiting(session: Session) -> int:
    session.expire_all()
    return sum(each.waiting for each in job_queue.depths(session))


def test_only_operators_see_and_settle_stuck_calls(
    session: Session, stuck_calls: dict[str, Call], tenant: Tenant, signed_in: SignedIn
) -> None:
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    page = f"/operator/stuck-calls/{stuck_calls['unknown'].id}"
    assert admin.get(page).status_code == 404
    typed = {"outcome": "busy", "reason": "So it was."}
    assert admin.post(page, typed, page=STATUS).status_code == 404
    with pytest.raises(Forbidden):
        resolve.by_operator(
            session,
            tenant.caller(Role.PARTNER_ADMIN),
            stuck_calls["unknown"].id,
            CallStatus.BUSY,
            "So.",
        )
