"""The way out of the retired calling API: who sees which client, and what its page says."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallSource, Role
from app.models import Assistant, Call, LegacyDay, LegacyExchange, OAuthClient, User, utcnow
from app.policy.caller import system_caller
from app.portal.legacy_migration.labels import as_curl, differences, time_left
from app.services import calls, oauth_clients, organizations
from app.services.legacy import migration as legacy_migration
from app.services.legacy.migration import ShadowRequest
from tests.fixtures.databases import runs_on
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]
LIST = "/api-access/migration"
SUPPORT = system_caller("command line")
ASKED = {"agentId": "a1", "contact": {"phoneNumber": "+12025550123"}, "callInstructions": "It's"}
ACCEPTED = {"success": True, "message": "Queued.", "callId": "c1"}


backend = runs_on(["sqlite"])


def make(session: Session, tenant: Tenant, name: str = "Old dialler", **more: Any) -> OAuthClient:
    new = oauth_clients.create_legacy(
        session, SUPPORT, organization_id=tenant.plus.id, name=name, **more
    )
    session.commit()
    return new.client


def refusal(code: str, message: str, *fields: str) -> dict[str, Any]:
    errors = [{"field": field, "code": code, "message": message} for field in fields]
    return {"message": message, "details": {"code": code, "errors": errors}}


def answered(status: int, answer: Any, shadow_status: int, shadow: Any) -> LegacyExchange:
    return LegacyExchange(
        status=status, answer=answer, shadow_status=shadow_status, shadow_answer=shadow
    )


def page_of(client: OAuthClient) -> str:
    return f"{LIST}/{client.id}"


def test_a_partner_sees_its_own_clients_and_the_operator_all(
    session: Session, tenant: Tenant, other_tenant: Tenant, admin: Browser, operator: Browser
) -> None:
    ours, theirs = (
        make(session, tenant, "Our dialler"),
        make(session, other_tenant, "Their dialler"),
    )
    session.commit()
    seen = {
        who: [name in browser.get(LIST).text for name in ("Our dialler", "Their dialler")]
        for who, browser in (("admin", admin), ("operator", operator))
    }
    assert seen == {"admin": [True, False], "operator": [True, True]}
    assert [admin.get(page_of(each)).status_code for each in (ours, theirs)] == [200, 404]
    assert [operator.get(page_of(each)).status_code for each in (ours, theirs)] == [200, 200]
    assert LIST in operator.get("/operator/installation").text


def test_the_operator_reads_that_a_partner_has_no_clients(
    tenant: Tenant, operator: Browser
) -> None:
    page = operator.get(f"{LIST}?partner={tenant.partner.id}").text
    assert "This partner has no clients of the legacy API." in page
    assert "Clear filters" not in page


@pytest.mark.parametrize("role", [Role.PARTNER_EDITOR, Role.ADMIN])
def test_other_roles_do_not_find_the_migration_pages(
    session: Session, tenant: Tenant, signed_in: SignedIn, role: Role
) -> None:
    client = make(session, tenant)
    browser = signed_in(tenant.staff[role])
    assert [browser.get(path).status_code for path in (LIST, page_of(client))] == [404, 404]


def test_another_kind_of_client_or_an_unknown_one_is_not_found(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    new = oauth_clients.create(
        session, tenant.caller(Role.PARTNER_ADMIN), name="Sync", role=Role.ADMIN
    )
    session.commit()
    paths = (page_of(new.client), f"{LIST}/{uuid4()}")
    assert [admin.get(path).status_code for path in paths] == [404, 404]


def test_the_list_is_searched_and_leaves_out_what_was_revoked(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    assert "Nothing to move" in admin.get(LIST).text
    make(session, tenant, "Night shift")
    oauth_clients.revoke(session, SUPPORT, make(session, tenant, "Gone already").client_id)
    session.commit()
    shown = admin.get(f"{LIST}?q=night").text
    assert "Night shift" in shown
    assert "Gone already" not in admin.get(LIST).text
    assert "No client matches" in admin.get(f"{LIST}?q=nowhere").text
    assert f'href="{LIST}"' in admin.get("/api-access").text


def test_a_client_of_a_suspended_organization_is_shown_as_refused(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    client = make(session, tenant)
    client_page = f"/api-access/clients/{client.id}"
    paths = ("/api-access/migration", page_of(client), "/api-access/clients", client_page)
    before = [admin.get(path).text.count("Refused") for path in paths]
    assert client.organization_id is not None
    organizations.suspend(session, OPERATOR, client.organization_id)
    session.commit()
    after = [admin.get(path).text.count("Refused") for path in paths]
    assert after == [each + 1 for each in before]
    assert "Organization suspended" in admin.get(paths[0]).text


@pytest.mark.usefixtures("clock")
def test_the_page_shows_traffic_request_and_both_answers(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    client = make(session, tenant)
    before = (utcnow() - timedelta(days=40)).date()
    session.add(LegacyDay(client_id=client.id, day=before, accepted=7, refused=7, differing=7))
    legacy_migration.record_request(
        session, client.id, 200, ACCEPTED, ShadowRequest(ASKED, 200, ACCEPTED)
    )
    shadow = ShadowRequest(ASKED, 200, {**ACCEPTED, "status": "queued"})
    legacy_migration.record_request(session, client.id, 410, refusal("retired", "Retired."), shadow)
    session.commit()
    shown = admin.get(page_of(client)).text
    blocks = dict(re.findall(r'<code id="([\w-]+)">(.*?)</code>', shown, re.DOTALL))
    assert {name: unescape(text) for name, text in blocks.items()} == {
        "successor-curl": as_curl("http://localhost/api/v1/outbound/call", ASKED),
        "legacy-answer": f"410 Gone\n\n{json.dumps(refusal('retired', 'Retired.'), indent=2)}",
        "shadow-answer": f"200 OK\n\n{json.dumps(shadow.answer, indent=2)}",
    }
    [foot] = re.findall(r"<tfoot>(.*?)</tfoot>", shown, re.DOTALL)
    assert re.findall(r'class="end">(\d+)', foot) == ["1", "1", "1"]
    [chart] = re.findall(r'<script type="application/json">(.*?)</script>', shown)
    drawn = json.loads(chart)
    assert len(drawn["days"]) == 30
    assert [each["values"][-1] for each in drawn["series"]] == [1, 1]
    assert "no longer serves this client" in shown


def test_a_client_that_asked_for_nothing_has_an_empty_page(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    shown = admin.get(page_of(make(session, tenant))).text
    assert "The next one appears here" in shown
    assert "No requests in the last 30 days" in shown


def test_without_a_kept_request_the_latest_call_is_used(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    client = make(session, tenant)
    assistant = session.scalars(
        select(Assistant).where(Assistant.organization_id == tenant.plus.id)
    ).one()
    assistant.phone_number, assistant.phone_enabled, assistant.phone_configured = (
        "+12025550100",
        True,
        True,
    )
    asked = calls.CallRequest(
        assistant.id,
        "+12025550123",
        "Ada",
        metadata={"city": "Leeds"},
        call_instructions="A quote.",
    )
    caller = system_caller("x", tenant.partner.id)
    call_id = calls.schedule(session, caller, asked, source=CallSource.LEGACY, live=True).call_id
    call = session.get_one(Call, call_id)
    call.credential_id = client.id
    session.add(LegacyDay(client_id=client.id, day=utcnow().date(), accepted=1))
    session.commit()
    body = {
        "agentId": str(assistant.id),
        "contact": {"phoneNumber": "+12025550123", "firstName": "Ada"},
        "metadata": {"city": "Leeds"},
        "callInstructions": "A quote.",
    }
    shown = unescape(admin.get(page_of(client)).text)
    assert as_curl("http://localhost/api/v1/outbound/call", body) in shown


@pytest.mark.parametrize(
    ("exchange", "sentences"),
    [
        (
            answered(200, ACCEPTED, 200, ACCEPTED),
            ["Both accept the call.",
             "The new answer also has the call’s status, and its ID to read or cancel the call."],
        ),
        (
            answered(403, refusal("plan_required", "Plus."), 200, ACCEPTED),
            ["The legacy API doesn’t serve this plan. The new API works with every plan."],
        ),
        (
            answered(200, ACCEPTED, 400, refusal("too_long", "Too long.")),
            ["Only the new API refuses it: Too long."],
        ),
        (
            answered(400, refusal("number_not_allowed", "No.", "toPhoneNumber"), 400,
                     refusal("number_not_allowed", "No.", "contact.phoneNumber")),
            ["Both refuse it for the same reason: No.",
             "The problem of toPhoneNumber is reported for contact.phoneNumber.",
             'Each refusal of a call by the new API has "success": false.'],
        ),
        (
            answered(410, refusal("retired", "Over."), 409, refusal("do_not_contact", "Listed.")),
            ["Both refuse it. The legacy API: Over. The new one: Listed.",
             'Each refusal of a call by the new API has "success": false.'],
        ),
    ],
)  # fmt: skip
def test_differences_are_described_in_words(exchange: LegacyExchange, sentences: list[str]) -> None:
    assert differences(exchange) == sentences


@pytest.mark.parametrize(
    ("days", "words", "soon"),
    [
        (40.5, "40 days left", False),
        (1.5, "1 day left", True),
        (0.5, "Within a day", True),
        (-0.5, "Ended today", True),
        (-143.5, "Ended 143 days ago", True),
    ],
)
def test_the_time_left_is_shown_in_days(days: float, words: str, soon: bool) -> None:
    end = time_left(utcnow() + timedelta(days=days))
    assert (end.label, end.soon) == (words, soon)
