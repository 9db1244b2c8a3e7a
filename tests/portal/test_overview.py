"""The first page: what needs whose decision, what is left to set up, the figures."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from html import unescape
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import CallStatus, ContactAction, ImportStatus, Role, UsageUnit
from app.languages import using_language
from app.models import (
    Assistant,
    AuditEntry,
    BrandVersion,
    ContactImport,
    Organization,
    Outreach,
    User,
)
from app.models.base import new_id, utcnow
from app.policy.caller import system_caller
from app.portal.web.formats import utc_days
from app.schemas.parsing import read
from app.schemas.partners import UpdatePartnerInput
from app.services import audit, campaigns, partners
from app.services.credentials import api_keys
from app.services.pricing.plans import PlanTerms
from tests.fixtures.clock import SetClock
from tests.fixtures.statements import counted
from tests.fixtures.tenants import OPERATOR, Tenant, converse, make_user, organization_of
from tests.portal.conftest import Browser
from tests.portal.test_calls import answered, make_call
from tests.services.billing.conftest import call, publish

pytestmark = pytest.mark.usefixtures("clock")

SignedIn = Callable[[User], Browser]


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)).strip()


def action_items(html: str) -> list[tuple[str, str]]:
    """The action items: title, and the page that resolves it."""
    part = html.partition("Needs attention")[2].partition("</section>")[0]
    return re.findall(
        r'list-row-title">([^<]+)</span>.*?(?:href="([^"]+)"[^>]*>[^<]+</a>)?\s*</li>',
        part,
        re.DOTALL,
    )


def make_ready(session: Session) -> None:
    for place, assistant in enumerate(session.scalars(select(Assistant)).all()):
        assistant.phone_enabled = assistant.phone_configured = True
        assistant.phone_number = f"+1202555{1480 + place}"


def make_upload(session: Session, organization: Organization, **fields: Any) -> ContactImport:
    campaign = campaigns.create(
        session,
        Tenant.caller(session.info["own"], Role.PARTNER_ADMIN),
        organization.id,
        name="Winter",
    )
    upload = ContactImport(
        **{
            "partner_id": organization.partner_id,
            "organization_id": organization.id,
            "campaign_id": campaign.id,
            "author": "Maren",
            "status": ImportStatus.CHECKED,
            "action": ContactAction.UPSERT,
            "file_name": "people.csv",
            "file_size": 10,
            "file_sha256": "0" * 64,
            "file_key": "key",
            **fields,
        }
    )
    session.add(upload)
    session.flush()
    return upload


@pytest.fixture
def tenant_without_action_items(session: Session, tenant: Tenant, other_tenant: Tenant) -> Tenant:
    """Nothing of this partner needs a decision but its bare brand."""
    session.info["own"] = tenant
    make_ready(session)
    session.commit()
    return tenant


BRAND = ("Your brand is incomplete in 9 places", "/branding/surfaces")


def brand_of(page: str) -> list[tuple[str, str]]:
    return [entry for entry in action_items(page) if entry[1] == "/branding/surfaces"]


def others(page: str) -> list[tuple[str, str]]:
    return [entry for entry in action_items(page) if entry[1] != "/branding/surfaces"]


def test_a_quiet_portal_asks_for_nothing_but_its_brand(
    tenant_without_action_items: Tenant, signed_in: SignedIn
) -> None:
    page = signed_in(tenant_without_action_items.staff[Role.PARTNER_ADMIN]).get("/").text
    assert others(page) == []
    assert len(brand_of(page)) == 1
    assert (
        "Nothing needs attention."
        in signed_in(tenant_without_action_items.staff[Role.ADMIN]).get("/").text
    )


def test_each_item_that_needs_attention_links_to_its_page(
    session: Session, tenant_without_action_items: Tenant, other_tenant: Tenant, signed_in: SignedIn
) -> None:
    now = utcnow()
    admin = tenant_without_action_items.caller(Role.PARTNER_ADMIN)
    unknown = make_call(
        session, tenant_without_action_items.plus, "+12025550101", now, status=CallStatus.UNKNOWN
    )
    make_call(
        session, tenant_without_action_items.plus, "+12025550102", now, status=CallStatus.BUSY
    )
    make_call(
        session, tenant_without_action_items.plus, "+12025550103", now, status=CallStatus.NO_ANSWER
    )
    make_call(session, other_tenant.plus, "+12025550104", now, status=CallStatus.UNKNOWN)
    other_tenant.plus.assistant_limit = other_tenant.organization.user_limit = 2
    for number in range(2):
        make_user(session, other_tenant.partner.id, f"theirs{number}@x.example")
    waiting = make_upload(session, tenant_without_action_items.plus, failed=412, rows_total=4812)
    bad = make_upload(
        session, tenant_without_action_items.plus, status=ImportStatus.FAILED, file_name="bad.xlsx"
    )
    key = api_keys.create(
        session,
        admin,
        organization_id=tenant_without_action_items.plus.id,
        name="crm",
        expires_at=now + timedelta(days=3),
    ).key
    api_keys.create(
        session,
        admin,
        organization_id=tenant_without_action_items.plus.id,
        name="far",
        expires_at=now + timedelta(days=30),
    )
    tenant_without_action_items.plus.assistant_limit = 5
    tenant_without_action_items.organization.user_limit = 10
    assistant = session.scalars(
        select(Assistant).where(Assistant.organization_id == tenant_without_action_items.plus.id)
    ).first()
    assert assistant is not None
    for number in range(3):
        copied = {"partner_id": assistant.partner_id, "organization_id": assistant.organization_id}
        session.add(
            Assistant(
                **copied,
                name=f"Robin {number}",
                phone_enabled=True,
                phone_configured=True,
                phone_number=f"+1202555020{number}",
            )
        )
    assistant.phone_configured = False
    session.commit()
    expected = [
        ("1 call with unknown outcome", f"/calls/{unknown.id}"),
        ("bad.xlsx could not be read", f"/uploads/{bad.id}"),
        ("412 rows need fixing", f"/uploads/{waiting.id}"),
        ("Key crm is about to expire", f"/api-access/keys/{key.id}"),
        ("Northwind Dental", f"/organizations/{tenant_without_action_items.plus.id}/plan?back=/"),
        (f"{assistant.name} can’t call yet", f"/assistants/{assistant.id}"),
        (
            "2 calls without an answer in 24 hours",
            "/calls?state=unanswered&amp;within=24-hours",
        ),
    ]
    page = signed_in(tenant_without_action_items.staff[Role.PARTNER_ADMIN]).get("/").text
    assert others(page) == expected
    assert "4 of 5 assistants in use." in page
    reason = "The number isn’t marked as set up with the carrier yet."
    assert f"{tenant_without_action_items.plus.name}: {reason}" in unescape(page)
    assert "1 not picked up, 1 busy" in page
    by_role = {
        role: [
            entry[0]
            for entry in action_items(
                signed_in(tenant_without_action_items.staff[role]).get("/").text
            )
        ]
        for role in (Role.PARTNER_EDITOR, Role.ADMIN)
    }
    titles = [title for title, _ in expected]
    assert by_role[Role.ADMIN] == [title for title in titles if not title.startswith("Key")]
    assert [title for title in by_role[Role.PARTNER_EDITOR] if "brand" not in title] == [
        title for title in titles if not title.startswith(("Key", "Northwind"))
    ]
    for title, url in expected:
        assert (
            signed_in(tenant_without_action_items.staff[Role.PARTNER_ADMIN])
            .get(unescape(url))
            .status_code
            == 200
        ), title
    member = signed_in(tenant_without_action_items.plus_user).get("/").text
    of_member = ["4 of 5 assistants in use." if "Northwind" in each else each for each in titles]
    assert [title for title, _ in action_items(member)] == [
        title for title in of_member if not title.startswith("Key") and "can’t call" not in title
    ]
    assert ("4 of 5 assistants in use.", "/plan") in action_items(member)
    assert action_items(signed_in(tenant_without_action_items.user).get("/").text) == []


@pytest.mark.parametrize(
    ("now", "first_before", "last_before", "after"),
    [
        ("2026-10-15T12:00", "2026-09-01", "2026-09-15", "2026-09-16"),
        ("2026-10-02T00:00", "2026-09-01", "2026-09-02", "2026-09-03"),
        ("2026-12-31T23:59:59.9", "2026-11-01", "2026-11-30", None),
        ("2027-01-31T23:00", "2026-12-01", "2026-12-31", None),
        ("2028-03-31T06:30", "2028-02-01", "2028-02-29", None),
        ("2028-02-29T00:00", "2028-01-01", "2028-01-29", "2028-01-30"),
    ],
)
def test_figures_are_compared_with_the_same_days_of_the_month_before(
    session: Session,
    tenant_without_action_items: Tenant,
    signed_in: SignedIn,
    clock: SetClock,
    now: str,
    first_before: str,
    last_before: str,
    after: str | None,
) -> None:
    clock.set(now)
    month = clock.now.date().replace(day=1)
    converse(session, tenant_without_action_items.plus, clock.now.date(), 4)
    converse(session, tenant_without_action_items.plus, month, 2)
    for day, count in ((first_before, 2), (last_before, 2), (after, 8)):
        if day:
            converse(session, tenant_without_action_items.plus, date.fromisoformat(day), count)
    converse(
        session,
        tenant_without_action_items.plus,
        date.fromisoformat(first_before) - timedelta(days=1),
        9,
    )
    tenant_without_action_items.plus.created_at = datetime.combine(month, time(), UTC)
    tenant_without_action_items.organization.created_at = (
        tenant_without_action_items.plus.created_at - timedelta(microseconds=1)
    )
    session.commit()
    page = text_of(signed_in(tenant_without_action_items.staff[Role.ADMIN]).get("/").text)
    assert "Conversations 6 ▲ up 50.0 % from 4" in page
    assert "With a person 50.0 % No change from 50.0 %" in page
    assert "Talk time 6 min ▲ up 50.0 % from 4 min" in page
    assert "Organizations 2 1 new this month" in page


def test_the_latest_changes_show_short_values_and_leave_long_ones_to_the_history(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    for price, word in (("price_before", "Reception"), ("price_after", "Dispatch")):
        pricing = [
            {"tier": tier, "processorPriceId": price, "processorProductId": "prod_" + "x" * 40}
            for tier in ("customerBasicPlan", "customerPlusPlan")
        ]
        for changes in ({"pricing": pricing}, {"productName": word}):
            partners.update(session, OPERATOR, tenant.partner.id, read(UpdatePartnerInput, changes))
    session.commit()
    page = text_of(signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/").text)
    shown = page.partition("Latest changes")[2]
    assert "Name of the product: Reception → Dispatch" in shown
    assert "Pricing operator," in shown


def test_the_latest_changes_lead_to_the_records_that_have_a_page(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    organization = tenant.organization
    caller = tenant.caller(admin.user_type)
    audit.record_change(session, caller, "organization.updated", organization)
    for kind, target in (("alert_rule", "Few calls"), ("webhook", "https://a.example")):
        audit.record(
            session,
            caller,
            action=f"{kind}.updated",
            target_type=kind,
            target_id=new_id(),
            target=target,
        )
    session.commit()
    changes = signed_in(admin).get("/").text.partition("Latest changes")[2]
    assert f'<a href="/organizations/{organization.id}">{organization.name}</a>' in changes
    assert '<a href="/alerts">Few calls</a>' in changes
    assert '<a href="/api-access/webhooks">https://a.example</a>' in changes


def test_a_closed_month_is_named_with_its_statements_and_times_with_their_zone(
    session: Session, tenant: Tenant, signed_in: SignedIn, operator: Browser
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    admin.timezone = "Europe/Berlin"
    closed = {"month": "2026-10", "statements": 3}
    worker = system_caller("worker", partner_id=tenant.partner.id)
    audit.record_change(session, worker, "partner.month_closed", tenant.partner, after=closed)
    session.commit()
    browser = signed_in(admin)
    for path in ("/", "/audit"):
        page = browser.get(path).text
        assert '<a href="/costs?month=2026-10">October 2026 closed</a>' in page
    assert "October 2026 closed: Northwind" in text_of(operator.get("/audit").text)
    assert re.search(r"worker, \d+ \w+, \d\d:\d\d CES?T", text_of(browser.get("/").text))


def test_the_first_steps_of_a_new_portal_end_when_all_are_done(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    session.info["own"] = tenant
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])

    def steps() -> tuple[str, list[str]]:
        page = browser.get("/").text
        words = re.findall(r"(\d of \d steps) done", page)
        left = re.findall(r'<a class="list-row-title" href="([^"]+)"', page)
        return words[0] if words else "", left

    everything = ["/branding", "/settings", "/assistants", "/uploads"]
    assert steps() == ("1 of 6 steps", everything)
    assert "Place a first call Once an assistant is ready." in text_of(browser.get("/").text)
    editor = signed_in(tenant.staff[Role.PARTNER_EDITOR]).get("/").text
    assert "1 of 5 steps done" in editor
    for role_of_others in (tenant.staff[Role.ADMIN], tenant.user):
        assert "Set up your portal" not in signed_in(role_of_others).get("/").text
    session.add(
        BrandVersion(
            partner_id=tenant.partner.id, number=1, content={}, author="x", published_at=utcnow()
        )
    )
    tenant.partner.domain_verified_at = utcnow()
    make_ready(session)
    make_upload(session, tenant.plus, failed=1).rows_applied = 1
    session.commit()
    assert steps() == ("5 of 6 steps", ["/test-call"])
    make_call(session, tenant.plus, "+12025550101", utcnow(), **answered(at=utcnow()))
    session.commit()
    assert steps() == ("", [])


def test_a_member_sees_their_own_organization(
    session: Session, tenant_without_action_items: Tenant, other_tenant: Tenant, signed_in: SignedIn
) -> None:
    converse(session, tenant_without_action_items.plus, utcnow().date(), 3)
    converse(session, tenant_without_action_items.organization, utcnow().date(), 9)
    make_call(session, tenant_without_action_items.plus, "+12025550101", utcnow())
    make_call(session, tenant_without_action_items.organization, "+12025550102", utcnow())
    session.commit()
    page = signed_in(tenant_without_action_items.plus_user).get("/").text
    days = f"1–\N{WORD JOINER}{utcnow().day}"
    assert f"Northwind Dental, {days} Oct 2026, compared with {days} Sep 2026." in text_of(page)
    assert "Conversations 3 None in the previous period" in text_of(page)
    assert "+1\u00a0202\u00a0555\u00a00101" in page
    assert "+1\u00a0202\u00a0555\u00a00102" not in page
    assert "Organizations by plan" not in page
    head = page.partition('<div class="head-actions">')[2]
    assert re.search(r'href="/uploads/new">(?:<svg(?s:.*?)</svg>)?\s*Upload contacts<', head)


@pytest.mark.parametrize(
    ("language", "zone", "words"),
    [
        ("en", "UTC", "1–27 Nov 2026"),
        ("en", "Europe/London", "1–27 Nov 2026"),
        ("en", "Europe/Berlin", "1–27 Nov 2026 (UTC)"),
        ("es", "America/Lima", "1–27 nov 2026 (UTC)"),
    ],
)
def test_days_mention_utc_only_if_they_differ_in_the_time_zone_of_the_user(
    language: str, zone: str, words: str
) -> None:
    with using_language(language):
        shown = utc_days(date(2026, 11, 1), date(2026, 11, 27), zone)
    assert shown.replace("\N{NO-BREAK SPACE}", " ").replace("\N{WORD JOINER}", "") == words


def test_an_operator_sees_every_partner_with_its_customers(
    session: Session, tenant: Tenant, other_tenant: Tenant, operator: Browser
) -> None:
    converse(session, tenant.plus, utcnow().date(), 7)
    tenant.partner.trial_ended_at = None
    session.commit()
    rows = re.findall(
        r'class="name"[^>]*>([^<]+)</a>.*?<td class="phone-first"><[^>]+>([^<]+)</span></td>\s*'
        r'<td class="end">(\d+)</td>\s*'
        r'<td class="end from-wide">(\d+)</td>\s*'
        r'<td class="end phone-below phone-sub" data-label="Conversations">([^<\s]+)',
        operator.get("/").text,
        re.DOTALL,
    )
    assert rows == [
        ("Northwind", "Trial mode", "2", "2", "7"),
        ("Southgate", "Active", "2", "2", "–"),
    ]
    assert "Start trial" not in operator.get("/").text
    assert "Northwind" not in operator.get("/?q=south").text


def test_the_row_of_a_partner_leads_to_its_failed_calls_and_actions(
    session: Session, tenant: Tenant, other_tenant: Tenant, operator: Browser
) -> None:
    for status in (CallStatus.FAILED, CallStatus.FAILED, CallStatus.BUSY):
        make_call(session, tenant.plus, "+12025550101", utcnow(), status=status)
    session.commit()
    page = operator.get("/").text
    (failed,) = re.findall(r'<a href="(/operator/calls[^"]+)">2</a>', page)
    assert unescape(failed) == (
        f"/operator/calls?partner={tenant.partner.id}&state=failed&within=24-hours"
    )
    assert "2 of 2 shown" in text_of(operator.get(unescape(failed)).text)
    menu = page.partition(f'id="actions-{tenant.partner.id}"')[2].partition("</ul>")[0]
    console = f"/operator/partners/{tenant.partner.id}"
    assert re.findall(r'href="([^"]+)">([^<]+)<', menu) == [
        (console, "Open"),
        (f"{console}#administrators", "View as…"),
        (f"{console}/domain", "Edit domain"),
        (f"/partners/{tenant.partner.id}/suspend", "Suspend…"),
    ]


def test_an_operator_suspends_and_reactivates_a_partner(
    session: Session, tenant: Tenant, other_tenant: Tenant, operator: Browser, signed_in: SignedIn
) -> None:
    theirs, others = signed_in(tenant.user), signed_in(other_tenant.user)
    path = f"/partners/{tenant.partner.id}"
    assert "Suspend Northwind?" in operator.get(f"{path}/suspend").text
    answer = operator.post(f"{path}/suspend", page=f"{path}/suspend")
    page = f"/operator{path}"
    assert (answer.status_code, answer.location) == (303, page)
    assert "Northwind suspended." in operator.get(page).text
    assert [browser.get("/").status_code for browser in (theirs, others)] == [303, 200]
    assert operator.post(f"{path}/reactivate", page=page).location == page
    assert "Northwind reactivated." in operator.get(page).text
    found = select(AuditEntry).where(AuditEntry.target_type == "partner").order_by(AuditEntry.id)
    rows = session.scalars(found)
    assert [row.action for row in rows if row.partner_id == tenant.partner.id][-2:] == [
        "partner.suspended",
        "partner.resumed",
    ]


def test_the_first_page_takes_the_same_queries_for_one_and_for_a_hundred(
    session: Session, tenant_without_action_items: Tenant, signed_in: SignedIn, database: Database
) -> None:
    people = (
        tenant_without_action_items.staff[Role.PARTNER_ADMIN],
        tenant_without_action_items.plus_user,
    )
    numbers = []
    for count in (1, 30):
        for number in range(count):
            user = make_user(
                session, tenant_without_action_items.partner.id, f"u{count}-{number}@x.example"
            )
            organization = organization_of(session, user)
            organization.user_limit = organization.assistant_limit = 2
            converse(session, organization, utcnow().date())
            for status in (CallStatus.UNKNOWN, CallStatus.BUSY):
                make_call(
                    session,
                    tenant_without_action_items.plus,
                    "+12025550101",
                    utcnow(),
                    status=status,
                )
            make_upload(session, tenant_without_action_items.plus, failed=1)
        session.commit()
        for person in people:
            browser = signed_in(person)
            browser.get("/")
            with counted(database.engine) as statements:
                browser.get("/")
            numbers.append(len(statements))
    assert all(many <= few <= 32 for few, many in zip(numbers[:2], numbers[2:], strict=True))


def first_steps(page: str) -> list[tuple[str, str]]:
    """The steps of the overview: title, and its page or "Done"."""
    part = page.partition('class="setup-steps"')[2].partition("</ol>")[0]
    found = re.findall(
        r'<(?:span|a) class="list-row-title"(?: href="([^"]+)")?>([^<]+)</'
        r'.*?list-row-text">([^<]+)',
        part,
        re.DOTALL,
    )
    return [(unescape(title), "Done" if text == "Done" else url) for url, title, text in found]


def test_each_role_begins_with_its_own_steps(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    tenant.user.role = Role.OWNER
    tenant.organization.user_limit = 0
    session.commit()
    pages = {
        "admin": signed_in(tenant.staff[Role.ADMIN]).get("/").text,
        "owner": signed_in(tenant.user).get("/").text,
        "member": signed_in(tenant.plus_user).get("/").text,
    }
    assert first_steps(pages["admin"]) == [
        ("Add your first organization", "Done"),
        ("Invite a customer’s first user", "Done"),
        ("Get an assistant ready", "/assistants"),
        ("Upload contacts", "/uploads"),
        ("Start a campaign", "/campaigns"),
        ("Place a first call", ""),
    ]
    assert first_steps(pages["owner"]) == [
        ("Get an assistant ready", "/assistants"),
        ("Invite a colleague", "/users/invite"),
        ("Place a first call", ""),
        ("Upload contacts", "/uploads"),
        ("Start a campaign", "/campaigns"),
    ]
    assert first_steps(pages["member"]) == [
        ("Choose your time zone", "/account"),
        ("Place a first call", ""),
        ("Upload contacts", "/uploads"),
        ("Start a campaign", "/campaigns"),
    ]
    titles = [re.findall(r'id="setup-title">([^<]+)', page) for page in pages.values()]
    assert titles == [["Set up your customers"], ["Set up your organization"], ["First steps"]]


def test_the_steps_of_an_organization_count_only_its_own_work(
    session: Session, tenant_without_action_items: Tenant, signed_in: SignedIn
) -> None:
    make_upload(session, tenant_without_action_items.organization)
    make_call(session, tenant_without_action_items.organization, "+12025550101", utcnow())
    session.commit()
    browser = signed_in(tenant_without_action_items.plus_user)
    assert [state for _title, state in first_steps(browser.get("/").text)] == [
        *("/account", "/test-call", "/uploads", "/campaigns")
    ]
    upload = make_upload(session, tenant_without_action_items.plus)
    upload.rows_applied = 0
    make_call(session, tenant_without_action_items.plus, "+12025550102", utcnow())
    tenant_without_action_items.plus_user.timezone = "Europe/London"
    session.commit()
    steps = dict(first_steps(browser.get("/").text))
    assert steps["Upload contacts"] == "/uploads", "a checked file isn't an upload yet"
    upload.rows_applied = 1
    session.commit()
    left = [state for _title, state in first_steps(browser.get("/").text) if state != "Done"]
    assert left == ["/campaigns"]
    assistant = session.scalars(
        select(Assistant).where(Assistant.organization_id == tenant_without_action_items.plus.id)
    ).first()
    assert assistant is not None
    session.add(
        Outreach(
            campaign_id=upload.campaign_id,
            organization_id=tenant_without_action_items.plus.id,
            assistant_id=assistant.id,
            weekdays="12345",
            hours_start=time(8),
            hours_end=time(21),
            started_at=utcnow(),
        )
    )
    session.commit()
    assert "setup-steps" not in browser.get("/").text


def test_imported_conversations_are_named_where_calls_are_missing(
    session: Session, tenant_without_action_items: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant_without_action_items.plus_user)
    shown = "The conversations so far are imported totals."
    assert "No calls yet." in browser.get("/").text
    assert "No calls yet" in browser.get("/calls").text
    converse(session, tenant_without_action_items.plus, utcnow().date(), 2)
    session.commit()
    page = browser.get("/").text
    assert shown in page
    assert ("Place a first call", "/test-call") in first_steps(page)
    calls = browser.get("/calls").text
    assert "No call records" in calls
    assert shown in calls
    assert shown not in signed_in(tenant_without_action_items.user).get("/calls").text


def test_the_price_to_customers_and_the_margin_are_shown_to_those_who_see_costs(
    session: Session, tenant_without_action_items: Tenant, signed_in: SignedIn
) -> None:
    converse(session, tenant_without_action_items.plus, utcnow().date())
    for organization in (
        tenant_without_action_items.organization,
        tenant_without_action_items.plus,
    ):
        organization.created_at = datetime(2025, 11, 1, tzinfo=UTC)
    since = datetime(2026, 1, 1, tzinfo=UTC)
    publish(
        session,
        tenant_without_action_items,
        since,
        PLUS=PlanTerms(9_900, "USD"),
        FREE=PlanTerms(0, "USD"),
    )
    session.commit()
    admin = signed_in(tenant_without_action_items.staff[Role.PARTNER_ADMIN])
    tile = admin.get("/").text.partition('hx-get="/overview/earnings"')[2].partition("</div>")[0]
    assert text_of(f"<{tile}") == "Price to customers – See costs and margin"
    loaded = text_of(admin.get("/overview/earnings").text)
    assert loaded == "Price to customers $99.00 $99.00 margin so far"
    editor = signed_in(tenant_without_action_items.staff[Role.PARTNER_EDITOR])
    assert "Price to customers" not in editor.get("/").text
    assert editor.get("/overview/earnings").status_code == 404


def test_the_page_of_a_customer_shows_the_price_of_this_month_and_what_is_used(
    session: Session, tenant_without_action_items: Tenant, signed_in: SignedIn
) -> None:
    tenant_without_action_items.plus.created_at = datetime(2025, 11, 1, tzinfo=UTC)
    terms = PlanTerms(9_900, "USD", unit=UsageUnit.MINUTE, included=500, overage_micros=100_000)
    publish(session, tenant_without_action_items, datetime(2026, 1, 1, tzinfo=UTC), PLUS=terms)
    call(session, tenant_without_action_items.plus, utcnow(), 12 * 60)
    session.commit()
    place = f"/organizations/{tenant_without_action_items.plus.id}"
    page = text_of(signed_in(tenant_without_action_items.staff[Role.ADMIN]).get(place).text)
    assert (
        "Billed minutes this month (UTC) 12 of 500 488 left. Price so far this month: $99.00. View"
        in page
    )
    editor = text_of(
        signed_in(tenant_without_action_items.staff[Role.PARTNER_EDITOR]).get(place).text
    )
    assert "Price so far" not in editor


def test_a_user_hides_the_first_steps_and_shows_them_again(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.user)
    colleague = signed_in(tenant.staff[Role.ADMIN])
    assert browser.post("/first-steps/hide", page="/").location == "/"
    page = browser.get("/").text
    assert first_steps(page) == []
    assert "Show first steps (0 of 4 steps done)" in text_of(page)
    assert len(first_steps(colleague.get("/").text)) == 6
    assert browser.post("/first-steps/show", page="/").location == "/"
    assert len(first_steps(browser.get("/").text)) == 4


def test_an_operator_has_no_steps(operator: Browser) -> None:
    page = operator.get("/").text
    assert "Overview</h1>" in page
    assert "setup-steps" not in page
