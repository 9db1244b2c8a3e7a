"""History: who did what when, from where, before and after."""

import ast
import csv
import io
import re
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import ROOT
from app.enums import (
    AlertMeasure,
    AlertScope,
    CallerKind,
    OrganizationStatus,
    Role,
    Tier,
    WebhookEvent,
)
from app.languages import using_language
from app.models import Assistant, AuditEntry, User
from app.models.base import id_at, new_id, utcnow
from app.models.folding import fold
from app.policy.caller import system_caller
from app.portal.audit.field_labels import FIELD_LABELS, field_label, find_fields
from app.portal.audit.labels import ACTION_LABELS, action_label, actor_label
from app.portal.audit.values import format_value, sides
from app.portal.web.process_names import PROCESS_LABELS
from app.portal.webhooks.forms import EVENT_LABELS
from app.services import alerts, audit
from app.services.audit.refusals import anonymous_caller
from app.services.imports.undo import UndoTotals
from app.services.organizations.settings import GROUPS
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser, user_of

SignedIn = Callable[[User], Browser]


@pytest.fixture
def tenant_with_history(session: Session, tenant: Tenant, other_tenant: Tenant) -> Tenant:
    """A person, a client and the system have done something; a stranger too."""
    person = replace(tenant.caller(Role.PARTNER_ADMIN), ip="192.0.2.7", request_id="r-1")
    client = replace(person, kind=CallerKind.CLIENT, label="crm-sync (abc)")
    audit.record(
        session,
        person,
        action="organization.updated",
        target_type="organization",
        target_id=tenant.plus.id,
        organization_id=tenant.plus.id,
        target=tenant.plus.name,
        before={"paymentTier": Tier.BASIC, "agentLimit": 3},
        after={"paymentTier": Tier.PLUS, "agentLimit": 1200},
    )
    audit.record(
        session,
        client,
        action="user.suspended",
        target_type="user",
        target_id=tenant.user.id,
        organization_id=tenant.organization.id,
        target="=cmd|olga",
        before={"status": "active"},
        after={"status": "suspended"},
    )
    audit.record(
        session,
        system_caller(partner_id=tenant.partner.id),
        action="thing.turned_round",
        target_type="contact",
        target_id="7",
        after={"password": "hunter2", "notBefore": "2026-05-04T10:00:00+00:00"},
    )
    session.flush()
    audit.record(
        session,
        other_tenant.caller(Role.PARTNER_ADMIN),
        action="user.suspended",
        target_type="user",
        target_id=other_tenant.user.id,
        target="theirs",
    )
    session.commit()
    return tenant


def lines(html: str) -> list[str]:
    found = re.findall(r'<td class="wrap what">(.*?)</td>', html, re.DOTALL)
    return [re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", part)).strip() for part in found]


def test_the_history_shows_changes_in_plain_words(
    tenant_with_history: Tenant, signed_in: SignedIn
) -> None:
    page = signed_in(tenant_with_history.staff[Role.PARTNER_ADMIN]).get("/audit").text
    assert lines(page) == [
        "Thing turned round Not before: 4 May 2026, 10:00 UTC Password: changed",
        "User suspended: =cmd|olga in Northwind Bakery Status: Active → Suspended",
        "Organization changed: Northwind Dental Assistant limit: 3 → 1,200 Plan: Basic → Plus",
    ]
    assert "hunter2" not in page
    cell = r'<td class="wrap history-who">([^<]+)(?:<span class="cell-sub">([^<]+))?'
    who = re.findall(cell, page.replace("<wbr>", ""))
    assert who == [
        ("System", ""),
        ("crm-sync (abc)", "API client"),
        (tenant_with_history.staff[Role.PARTNER_ADMIN].email, ""),
    ]
    assert "192.0.2.7" in page
    assert f'href="/organizations/{tenant_with_history.plus.id}"' in page


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("actor=CRM", ["user.suspended"]),
        ("kind=organization", ["organization.updated"]),
        ("kind=campaign", ["thing.turned_round"]),
        ("kind=nonsense", ["thing.turned_round", "user.suspended", "organization.updated"]),
        ("action=user.suspended", ["user.suspended"]),
        ("kind=user&action=user.suspended", ["user.suspended"]),
        ("kind=organization&action=user.suspended", ["organization.updated"]),
        ("organization=bakery", ["user.suspended"]),
        ("q=OLGA", ["user.suspended"]),
        ("q=7", ["thing.turned_round"]),
        ("q=ser susp", ["user.suspended"]),
        ("q=organization.upd", ["organization.updated"]),
        ("q=assistant limit", ["organization.updated"]),
        ("q=theirs", []),
        ("start=2000-01-01&end=2001-01-01", []),
        ("start=2000-01-01", ["thing.turned_round", "user.suspended", "organization.updated"]),
    ],
)
def test_filters_choose_the_same_on_the_screen_and_in_the_file(
    tenant_with_history: Tenant, signed_in: SignedIn, asked: str, expected: list[str]
) -> None:
    browser = signed_in(tenant_with_history.staff[Role.PARTNER_ADMIN])
    rows = list(csv.reader(io.StringIO(browser.get(f"/lists/history/export.csv?{asked}").text)))[1:]
    assert [row[5] for row in rows] == expected
    assert len(lines(browser.get(f"/audit?{asked}").text)) == len(expected)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("actor=marta", ["user.suspended", "organization.updated"]),
        ("actor=olivia", []),
        ("q=olivia r", ["user.suspended"]),
        ("q=marta", ["user.suspended", "organization.updated"]),
        ("q=crm-sync", ["user.suspended"]),
        ("q=bexley", ["organization.updated"]),
        ("q=theirs", []),
    ],
)
def test_the_current_name_of_a_user_or_record_finds_its_history(
    session: Session,
    tenant_with_history: Tenant,
    other_tenant: Tenant,
    signed_in: SignedIn,
    asked: str,
    expected: list[str],
) -> None:
    tenant_with_history.staff[Role.PARTNER_ADMIN].name = "Marta Klein"
    tenant_with_history.user.name, other_tenant.user.name = "Olivia Reyes", "Theirs"
    tenant_with_history.plus.name = "Bexley Plumbing"
    session.commit()
    browser = signed_in(tenant_with_history.staff[Role.PARTNER_ADMIN])
    rows = list(csv.reader(io.StringIO(browser.get(f"/lists/history/export.csv?{asked}").text)))[1:]
    assert [row[5] for row in rows] == expected


def test_the_file_holds_both_values_of_a_change_and_no_formula(
    tenant_with_history: Tenant, signed_in: SignedIn
) -> None:
    text = (
        signed_in(tenant_with_history.staff[Role.PARTNER_ADMIN])
        .get("/lists/history/export.csv?kind=user")
        .text
    )
    header, row = csv.reader(io.StringIO(text.removeprefix("\ufeff")))
    assert dict(zip(header, row, strict=True)) | {"When (UTC)": ""} == {
        "When (UTC)": "",
        "Who": "crm-sync (abc)",
        "Kind of actor": "client",
        "Address": "192.0.2.7",
        "What": "User suspended",
        "Action": "user.suspended",
        "Kind": "user",
        "Thing": "'=cmd|olga",
        "ID": str(tenant_with_history.user.id),
        "Before": '{"status":"active"}',
        "After": '{"status":"suspended"}',
        "Request": "r-1",
        "Changes": "Status: Active → Suspended",
    }


def test_days_are_those_of_the_time_zone_of_the_user(
    session: Session, tenant_with_history: Tenant, signed_in: SignedIn
) -> None:
    at = datetime(2026, 5, 4, 23, 30, tzinfo=UTC)
    admin = tenant_with_history.staff[Role.PARTNER_ADMIN]
    admin.timezone = "Asia/Tokyo"
    session.add(
        AuditEntry(
            id=UUID(int=id_at(at).int + 1),
            partner_id=tenant_with_history.partner.id,
            at=at,
            actor_kind="user",
            actor="stranger",
            action="user.signed_in",
            target_type="user",
            target_id="1",
        )
    )
    session.commit()
    browser = signed_in(admin)
    assert lines(browser.get("/audit?start=2026-05-05&end=2026-05-05").text) == ["Signed in"]
    assert lines(browser.get("/audit?start=2026-05-04&end=2026-05-04").text) == []
    shown = browser.get("/audit?end=2026-05-05").text
    [(day, at_clock)] = re.findall(
        r'colspan="5">(.*?)</th></tr>.*?<td class="history-when">(.*?)</td>', shown, re.DOTALL
    )
    assert (day, at_clock) == ("5\u00a0May\u00a02026", "08:30")
    for asked, message in {
        "start=2026-02-30": "Enter a day like 2026-02-28",
        "start=2026-05-05&end=2026-05-04": "The last day is before the first day",
    }.items():
        refused = browser.get(f"/audit?{asked}")
        assert refused.status_code == 422
        assert message in refused.text


def test_a_long_history_comes_in_pages_and_whole_in_the_file(
    session: Session, tenant_with_history: Tenant, signed_in: SignedIn
) -> None:
    for number in range(60):
        session.add(
            AuditEntry(
                id=new_id(),
                partner_id=tenant_with_history.partner.id,
                at=utcnow() + timedelta(microseconds=number),
                actor_kind="system",
                actor="system",
                action="mail.failed",
                target_type="user",
                target_id=str(number),
                target=f"mail {number}",
            )
        )
    session.commit()
    browser, path, found = (
        signed_in(tenant_with_history.staff[Role.PARTNER_ADMIN]),
        "/audit?kind=user",
        [],
    )
    while path:
        page = browser.get(path).text
        found += re.findall(r"Email could not be delivered: <a[^>]*>(mail \d+)", page)
        further = re.search(r'href="([^"]+)" rel="next"', page)
        path = further[1].replace("&amp;", "&") if further else ""
    assert found == [f"mail {number}" for number in range(59, -1, -1)]
    assert browser.get("/lists/history/export.csv?action=mail.failed").text.count("\r\n") == 61
    assert browser.get("/audit?cursor=nonsense").status_code == 400


@pytest.mark.parametrize("role", [Role.PARTNER_EDITOR, Role.ADMIN, Role.STANDARD])
def test_a_role_without_the_history_finds_neither_screen_nor_file(
    tenant: Tenant, signed_in: SignedIn, role: Role
) -> None:
    browser = signed_in(user_of(tenant, role))
    assert [browser.get(path).status_code for path in ("/audit", "/lists/history/export.csv")] == [
        404,
        404,
    ]


def test_a_count_of_nothing_is_left_out(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    audit.record(
        session,
        tenant.caller(Role.PARTNER_ADMIN),
        action="upload.applied",
        target_type="upload",
        target_id="1",
        after={"created": 3, "deleted": 0, "live": False},
    )
    session.commit()
    page = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/audit").text
    assert "Created" in page
    assert "Deleted" not in page
    assert "Live" in page


def test_a_limit_of_0_is_no_limit_in_words() -> None:
    limits = ("agentLimit", "defaultAgentLimit", "userLimit")
    assert [format_value(0, name=name) for name in limits] == ["No limit"] * 3
    assert format_value(0, name="retryTimes") == "0"


def test_an_action_without_its_own_words_is_spelt_out() -> None:
    assert action_label("thing.turned_round") == "Thing turned round"
    assert [field_label(name) for name in ("payment_tier", "paymentTier", "someField")] == [
        "Plan",
        "Plan",
        "Some field",
    ]
    values = [None, True, 12345, ["a", "b"], {"id": 1, "label": "Help"}, "x" * 300]
    assert [format_value(value) for value in values] == [
        "none",
        "Yes",
        "12,345",
        "a, b",
        "Label: Help",
        "x" * 199 + "…",
    ]
    every_event = format_value([event.value for event in WebhookEvent], name="events")
    assert every_event.split(", ") == list(map(str, EVENT_LABELS.values()))
    assert format_value([1, 2, 7], "UTC", "weekdays") == "Mon, Tue, Sun"
    assert format_value("2026-10", "UTC", "month") == "October 2026"
    assert (
        format_value("First Bank\n\nReference: 12", "UTC", "name") == "First Bank / Reference: 12"
    )
    assert format_value("admin", "UTC", "userType") == "Customer admin"
    assert format_value("admin", "UTC", "name") == "admin"
    assert format_value("suspended", "UTC", "status") == "Suspended"
    assert [format_value("api", "UTC", name) for name in ("source", "name")] == ["API", "api"]


def test_the_texts_of_a_plan_in_other_languages_are_in_words() -> None:
    texts = {"de": {"name": "Basis", "features": ["Anrufe", "Chat"]}, "fr": {"name": None}}
    assert (
        format_value(texts, name="textsByLanguage") == "Deutsch: Basis · Anrufe, Chat; Français: "
    )


@pytest.mark.parametrize("status", OrganizationStatus)
def test_each_status_of_an_organization_is_in_the_readers_language(
    status: OrganizationStatus,
) -> None:
    entry = AuditEntry(
        action="organization.archived",
        target_type="organization",
        before={"status": "active"},
        after={"status": status.value},
    )
    with using_language("es"):
        words = {"active": "Activa", "suspended": "Suspendida", "archived": "Archivada"}
        assert sides(entry, "status") == ("Activa", words[status.value])


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("queued again", "queued again"),
        ("handed in again", "queued again"),
        ("reported by the carrier", "reported by the carrier"),
        ("the carrier's word", "reported by the carrier"),
        ("The customer hung up.", "The customer hung up."),
    ],
)
def test_why_a_call_was_resolved_is_in_plain_words_in_former_entries_too(
    stored: str, shown: str
) -> None:
    assert format_value(stored, name="reason") == shown


def test_each_count_of_an_undone_upload_has_words_in_the_history() -> None:
    names = (field_label(name) for name in asdict(UndoTotals()))
    assert set(names) <= set(map(str, FIELD_LABELS.values()))


def test_every_rule_of_an_organization_has_words_in_the_history() -> None:
    assert {f"organization.{group}_changed" for group in GROUPS} <= ACTION_LABELS.keys()


def test_a_user_who_changes_themselves_changed_their_own_account(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    user = tenant.staff[Role.PARTNER_ADMIN]
    caller = tenant.caller(Role.PARTNER_ADMIN)
    audit.record_change(session, replace(caller, subject_id=user.id), "user.updated", user)
    session.commit()
    assert lines(signed_in(user).get("/audit").text)[0] == "Own account changed"


def test_visitors_languages_addresses_and_secrets_are_in_words(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    for action, before, after in (
        ("webhook.updated", {"url": "https://a.example"}, {"url": "https://b.example"}),
        ("user.updated", {"language": "en"}, {"language": "de"}),
        ("carrier_account.saved", {}, {"sid": "AC" + "1a" * 16, "token": "changed"}),
        ("call.scheduled", {}, {"source": "test", "live": True}),
        ("client.created", {}, {"area": "A"}),
        ("webhook.created", {}, {"events": ["call.completed", "alert.opened"]}),
        ("partner.updated", {"language": None}, {"language": "de"}),
        ("campaign.planned", {"weekdays": [1]}, {"weekdays": [1, 2], "startsOn": "2026-12-05"}),
        ("organization.report_scheduled", {"day": 1}, {"day": 3}),
        ("campaign.started", {"status": "paused"}, {"status": "active"}),
        ("list_export.requested", {}, {"list": "contact-data", "filters": "id=1", "format": "zip"}),
        ("history.redacted", {}, {"entries": 2, "digest": "7b" * 32}),
    ):
        kind = action.partition(".")[0]
        audit.record(
            session,
            caller,
            action=action,
            target_type=kind,
            target_id="1",
            target=str(after.get("list") or ""),
            before=before,
            after=after,
        )
    no_one = replace(anonymous_caller(), partner_id=tenant.partner.id)
    audit.record(
        session,
        no_one,
        action="sign_in.refused",
        target_type="user",
        target_id="1",
        partner_id=tenant.partner.id,
    )
    session.commit()
    page = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/audit").text
    assert lines(page)[1:] == [
        "Names removed from the history History entries: 2",
        "Export requested: Data about a person Format: ZIP (JSON)",
        "Campaign started",
        "Schedule of an organization’s report changed Day of the month: 1 → 3",
        "Plan of a campaign changed Days of the week: Mon → Mon, Tue First day: 5 Dec 2026",
        "Portal settings changed Language: Automatic → Deutsch",
        "Webhook added Events: Call completed, Alert opened",
        "API client added API: Partner API",
        "Carrier account saved Account SID: AC1a1a…1a1a Token: changed",
        "User changed Language: English → Deutsch",
        "Webhook changed Address: https://a.example → https://b.example",
    ]
    who = re.findall(r'<td class="wrap history-who">([^<]+)(?:<span class="cell-sub">[^<]+)?', page)
    assert who[0] == "Not signed in"
    assert "Visitor" not in page


def test_requested_calls_are_left_out_until_they_are_asked_for(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    for action in ("call.scheduled", "webhook.paused", "call.scheduled"):
        kind = action.partition(".")[0]
        caller = tenant.caller(Role.PARTNER_ADMIN)
        audit.record(session, caller, action=action, target_type=kind, target_id="1")
    session.commit()
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    page = browser.get("/audit").text
    assert lines(page) == ["Webhook paused"]
    shown = re.search(r'Requested calls are left out. <a href="([^"]+)">Show them</a>', page)
    assert shown
    everything = ["Call requested", "Webhook paused", "Call requested"]
    assert lines(browser.get(shown[1]).text) == everything
    assert lines(browser.get("/audit?kind=call").text) == ["Call requested", "Call requested"]
    assert lines(browser.get("/audit?q=requested").text) == ["Call requested", "Call requested"]
    assert "are left out" not in browser.get("/audit?kind=do_not_call").text


def test_a_search_for_a_user_leaves_the_calls_out_that_the_user_requested(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    admin.name = "Marta Klein"
    for action in ("call.scheduled", "webhook.paused"):
        caller, kind = tenant.caller(Role.PARTNER_ADMIN), action.partition(".")[0]
        audit.record(session, caller, action=action, target_type=kind, target_id="1")
    session.commit()
    browser = signed_in(admin)
    page = browser.get("/audit?q=marta").text
    assert lines(page) == ["Webhook paused"]
    shown = re.search(r'of this name are left out. <a href="([^"]+)">Show them</a>', page)
    assert shown
    both = ["Webhook paused", "Call requested"]
    assert lines(browser.get(unescape(shown[1])).text) == both
    assert lines(browser.get("/audit?q=marta&kind=call").text) == ["Call requested"]
    assert "of this name are left out." not in browser.get("/audit?q=%2B12025550111").text


def test_the_search_finds_actions_in_the_language_of_the_reader(
    session: Session, tenant_with_history: Tenant, signed_in: SignedIn
) -> None:
    admin = tenant_with_history.staff[Role.PARTNER_ADMIN]
    admin.language = "de"
    session.commit()
    with using_language("de"):
        words = action_label("user.suspended")
    [line] = lines(signed_in(admin).get(f"/audit?q={words.upper()}").text)
    assert line.startswith(f"{words}: ")


def test_the_search_ignores_accents_in_stored_names_actions_and_fields(
    session: Session, tenant_with_history: Tenant, signed_in: SignedIn
) -> None:
    admin = tenant_with_history.staff[Role.PARTNER_ADMIN]
    admin.language = "fr"
    audit.record(
        session,
        replace(tenant_with_history.caller(Role.PARTNER_ADMIN), label="Zoë Łuczak (clé)"),
        action="phone_number.released",
        target_type="phone_number",
        target_id="1",
        target="Été à Besançon",
    )
    session.commit()
    with using_language("fr"):
        action = action_label("phone_number.released")
    browser = signed_in(admin)
    for asked in ("actor=ZOE+LUCZAK", "q=ete+a+besancon", f"q={fold(action)}"):
        assert len(lines(browser.get(f"/audit?{asked}").text)) == 1, asked


def test_several_numbers_added_to_a_list_are_counted_in_the_language_of_the_reader(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    admin.language = "de"
    session.commit()
    browser, page = signed_in(admin), f"/organizations/{tenant.organization.id}"
    numbers = {"numbers": "+12025550101\n+12025550102"}
    assert browser.post(f"{page}/do-not-call/add", numbers, page=f"{page}/do-not-call/add").location
    assert "2 Nummern" in lines(browser.get("/audit").text)[0]
    assert "2 Nummern" in browser.get(page).text


def test_numbers_that_were_added_together_are_listed_with_their_reasons_and_found(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    path = f"/organizations/{tenant.organization.id}/do-not-call/add"
    typed = {"numbers": "+12025550177,asked by mail\n+12025550178", "reason": "Robinson"}
    browser.post(path, typed, page=path)
    shown = "2 numbers in Northwind Bakery +1 202 555 0177: asked by mail +1 202 555 0178: Robinson"
    for asked in ("%2B12025550177", "%2B1+202+555+0178", "2025550177"):
        [line] = lines(browser.get(f"/audit?q={asked}").text)
        assert shown in line.replace("\u00a0", " ")
    assert lines(browser.get("/audit?q=%2B12025550179").text) == []


def test_fields_are_found_without_accents() -> None:
    with using_language("de"):
        assert "mailGreeting" in find_fields("BEGRUSSUNG in")


def test_a_published_version_leads_to_it_and_to_rolling_back(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    for action in ("branding.published", "pricing.published", "pricing.saved"):
        audit.record(
            session,
            tenant.caller(Role.PARTNER_ADMIN),
            action=action,
            target_type="version",
            target_id=new_id(),
            partner_id=tenant.partner.id,
            target="Version 2",
        )
    session.commit()
    page = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/audit").text
    assert re.findall(r'<a href="([^"]+)">View or roll back</a>', page) == [
        "/pricing/history/2",
        "/branding/history/2",
    ]
    assert "Pricing published: Version 2" in " ".join(lines(page))


def test_the_history_shows_an_upload_with_its_action_and_size(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    audit.record(
        session,
        tenant.caller(Role.PARTNER_ADMIN),
        action="upload.created",
        target_type="upload",
        target_id="1",
        after={"action": "upsert", "size": 924},
    )
    session.commit()
    shown = lines(signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/audit").text)
    assert shown == ["File uploaded Action: Add and update Size: 924 B"]


def test_latest_changes_name_users_as_the_history_does(
    session: Session, tenant_with_history: Tenant, signed_in: SignedIn
) -> None:
    admin = tenant_with_history.staff[Role.PARTNER_ADMIN]
    admin.name = "Marta Ruiz"
    session.commit()
    browser = signed_in(admin)
    cell = r'<td class="wrap">\s*([^<]+?)\s*</td>\s*<td class="wrap what">\s*Organization changed'
    page = browser.get(f"/organizations/{tenant_with_history.plus.id}").text
    assert re.findall(cell, page) == ["Marta Ruiz"]
    assert re.search(r'<span class="list-row-text">\s*Marta Ruiz,', browser.get("/").text)


def test_emails_break_at_their_at_sign_and_dots(
    tenant_with_history: Tenant, signed_in: SignedIn
) -> None:
    page = signed_in(tenant_with_history.staff[Role.PARTNER_ADMIN]).get("/audit").text
    assert "partnerAdmin@<wbr>northwind.<wbr>example" in page


def entry(actor: str = "", kind: CallerKind = CallerKind.SYSTEM, **fields: Any) -> AuditEntry:
    return AuditEntry(actor=actor, actor_kind=kind, **fields)


def picture(kind: str, name: str) -> dict[str, str]:
    return {"type": kind, "imageUrl": f"https://portal.example/brand/images/{name}"}


def test_pictures_of_the_brand_are_named_and_have_no_addresses() -> None:
    pictures = entry(
        before={"siteImages": [picture("logo", "a"), picture("hero", "h")], "darkLogoUrl": None},
        after={
            "siteImages": [picture("favicon", "f"), picture("logo", "b"), picture("hero", "h")],
            "darkLogoUrl": "https://portal.example/brand/images/d",
        },
    )
    assert sides(pictures, "siteImages") == ("Logo", "Favicon (new), Logo (new)")
    assert sides(pictures, "darkLogoUrl") == ("none", "new picture")
    both = entry(
        before={"siteImages": None, "logoImgUrl": None},
        after={
            "siteImages": [picture("logo", "a")],
            "logoImgUrl": picture("logo", "a")["imageUrl"],
        },
    )
    assert sides(both, "siteImages") == (None, None)
    assert sides(both, "logoImgUrl") == ("none", "new picture")
    colours = entry(after={"brandUIColors": [{"id": "1", "name": "primary", "value": "#1c7a4d"}]})
    assert sides(colours, "brandUIColors") == (None, "#1c7a4d")


@pytest.mark.parametrize(
    ("language", "price", "budget", "plain"),
    [("en", "$35.00", "$10.00", "10.00"), ("de", "35,00\u00a0$", "10,00\u00a0$", "10,00")],
)
def test_amounts_are_in_the_readers_language(
    language: str, price: str, budget: str, plain: str
) -> None:
    with using_language(language):
        shown = (
            format_value("35.00 USD", name="price"),
            format_value("10.00 USD", name="budgetAMonth"),
            format_value("10.00", name="budgetAMonth"),
        )
    assert shown == (price, budget, plain)


def test_parts_of_the_system_have_names_in_the_readers_language() -> None:
    assert actor_label(entry("Billing")) == "Billing"
    with using_language("de"):
        assert actor_label(entry("system")) == "System"
        assert actor_label(entry("Campaign Renewals")) == "Kampagne Renewals"
        assert actor_label(entry("system", CallerKind.USER)) == "system"


def test_each_part_of_the_system_that_changes_something_has_words() -> None:
    assert set(PROCESS_LABELS) == names_of_processes()


def names_of_processes() -> set[str]:
    """Return the fixed names that `system_caller` is given anywhere in the application."""
    names = {"system"}  # its default
    for path in (ROOT / "app").rglob("*.py"):
        code = path.read_text()
        if "system_caller" not in code and "ACTOR" not in code:  # parsing takes long
            continue
        for node in ast.walk(ast.parse(code)):
            match node:
                case ast.Call(func=ast.Name("system_caller"), args=[ast.Constant(str(name)), *_]):
                    names.add(name)
                case ast.Assign(targets=[ast.Name("ACTOR")], value=ast.Constant(str(name))):
                    names.add(name)
    return names


def test_actions_are_grouped_by_their_kind_and_a_kind_offers_only_its_own(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    groups = re.findall(r'<optgroup label="([^"]+)">', browser.get("/audit").text)
    assert groups[:4] == ["Sign-ins", "Alert rules", "Alerts", "API clients"]
    assert groups[-1] == "Other actions"
    of_uploads = browser.get("/audit?kind=upload").text
    assert re.findall(r'<optgroup label="([^"]+)">', of_uploads) == ["Uploads"]
    assert {name.partition(".")[0] for name in options_of(of_uploads, "action") if name} == {
        "upload"
    }
    assert "client.refused" in options_of(browser.get("/audit?kind=client").text, "action")


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_an_uploaded_picture_is_shown_with_its_size_in_pixels(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    audit.record(
        session,
        tenant.caller(Role.PARTNER_ADMIN),
        action="brand_image.uploaded",
        target_type="brand_image",
        target_id=new_id(),
        partner_id=tenant.partner.id,
        target="logo",
        after={"width": 640, "height": 100, "size": 475},
    )
    session.commit()
    page = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/audit").text
    shown = "Picture uploaded: Logo New picture: 640 × 100 pixels, 475\u00a0B"
    assert shown.replace("\u00a0", " ") in [line.replace("\u00a0", " ") for line in lines(page)]


def test_an_assistant_is_named_and_led_to(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    assistant = session.scalars(
        select(Assistant).where(Assistant.partner_id == tenant.partner.id)
    ).first()
    assert assistant
    for before, after in (
        ({"agentId": None}, {"agentId": assistant.id}),
        ({}, {"agent_id": assistant.id}),
    ):
        audit.record(
            session,
            tenant.caller(Role.PARTNER_ADMIN),
            action="campaign.planned",
            target_type="agent",
            target_id=assistant.id,
            target="Recall",
            before=before,
            after=after,
        )
    session.commit()
    shown = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/audit?q=Recall").text
    assert shown.count(f'<span class="history-new">{assistant.name}</span>') == 2
    assert shown.count(f'href="/assistants/{assistant.id}"') == 2


def options_of(html: str, name: str) -> list[str]:
    select_box = html.partition(f'<select class="form-select" id="filter-{name}"')[2]
    return re.findall(r'<option value="([^"]+)"', select_box.partition("</select>")[0])


def test_the_filters_offer_a_partner_only_what_its_history_can_have(
    tenant: Tenant, signed_in: SignedIn, operator: Browser
) -> None:
    partners_own = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/audit").text
    all_partners = operator.get("/audit").text
    missing = {
        name: sorted(set(options_of(all_partners, name)) - set(options_of(partners_own, name)))
        for name in ("kind", "action")
    }
    assert missing == {
        "kind": ["installation"],
        "action": [
            "installation.call_rates_changed",
            "installation.destinations_limited",
            "installation.signing_key_rotated",
            "operator.created",
            "operator.view_ended",
            "operator.view_started",
        ],
    }
    assert set(options_of(all_partners, "action")) == ACTION_LABELS.keys()
    assert set(options_of(partners_own, "action")) < ACTION_LABELS.keys()


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_users_are_named_with_their_email_beside(
    tenant_with_history: Tenant, signed_in: SignedIn, session: Session
) -> None:
    admin = tenant_with_history.staff[Role.PARTNER_ADMIN]
    admin.name, tenant_with_history.user.name = "Marta Ruiz", "Olga Berg"
    session.commit()
    page = signed_in(admin).get("/audit").text
    cell = r'<td class="wrap history-who">([^<]+)<span class="cell-sub">([^<]+)'
    assert ("Marta Ruiz", admin.email) in re.findall(cell, page.replace("<wbr>", ""))
    assert "User suspended: Olga Berg =cmd|olga in Northwind Bakery Status" in " ".join(lines(page))


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_alert_rules_are_in_the_language_of_the_reader_as_they_were_then(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    caller = tenant.caller(Role.PARTNER_ADMIN)
    of_bakery = alerts.RuleInput(
        measure=AlertMeasure.SILENCE,
        scope=AlertScope.ORGANIZATION,
        threshold=7,
        organization_id=tenant.organization.id,
    )
    rule = alerts.create(session, caller, of_bakery)
    alerts.update(session, caller, rule.id, replace(of_bakery, threshold=9))
    alerts.mute(session, caller, rule.id, 7)
    admin.language = "de"
    session.commit()
    shown = [line.partition(": ")[2] for line in lines(signed_in(admin).get("/audit").text)]
    wanted = [f"Northwind Bakery hat seit {days} Tagen keine Anrufe" for days in (9, 9, 7)]
    assert len(shown) == len(wanted)
    for line, words in zip(shown, wanted, strict=True):
        assert line.startswith(words)
    assert all(" in Northwind Bakery" not in line for line in shown)
    assert wanted[0] in signed_in(admin).get(f"/organizations/{tenant.organization.id}").text
    alerts.remove(session, caller, rule.id)
    session.commit()
    page = lines(signed_in(admin).get("/audit").text)
    assert wanted[0] in page[0]
    assert wanted[2] in page[3]


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_saved_view_is_in_words(tenant: Tenant, signed_in: SignedIn, session: Session) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    query = f"state=failed&organization={tenant.plus.id}&start=2026-11-01&sort=number&column=number"
    path = f"/lists/calls/views/new?{query}"
    assert browser.post(path, {"name": "Failed", "once": "1"}, page=path).status_code == 303
    [line] = [each for each in lines(browser.get("/audit").text) if "View saved" in each]
    assert line == (
        "View saved: Failed 4 fields Default: No Filters: Status: Failed; "
        "Organization: Northwind Dental; "
        "From 1 Nov 2026; Sorted by: Called; Columns: Called List: All calls Shared: No"
    )
