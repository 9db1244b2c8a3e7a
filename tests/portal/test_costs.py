"""Costs and margin, and statements: who sees them, what they say, and their files."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import CarrierKind, Role, SubscriptionStatus, Tier, UsageUnit
from app.models import Campaign, Mail, Statement, Subscription, User
from app.portal.web import lists
from app.services import organizations, reporting
from app.services.billing import closing, statements
from app.services.billing.usage import ModelRate
from app.services.pricing.plans import PlanTerms
from tests.fixtures.clock import SetClock, set_clock
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import Browser
from tests.portal.page_text import text_of
from tests.services.billing.conftest import call, publish

IN_OCTOBER = datetime(2026, 10, 20, 12, tzinfo=UTC)
TERMS = PlanTerms(9_900, "USD", unit=UsageUnit.MINUTE, included=10, overage_micros=155_000)
SignIn = Callable[[User], Browser]


@pytest.fixture(autouse=True)
def clock() -> Iterator[SetClock]:
    with set_clock() as found:
        found.set("2026-11-20T12:00:00")
        yield found


@pytest.fixture
def campaign(session: Session, tenant: Tenant) -> Campaign:
    """12 minutes of it cost $0.2345, 3 others about $0.09; October isn't closed yet."""
    for organization in (tenant.organization, tenant.plus):
        organization.created_at = organization.tier_since = datetime(2025, 11, 1, tzinfo=UTC)
    publish(session, tenant, datetime(2026, 10, 1, tzinfo=UTC), PLUS=TERMS)
    made = Campaign(partner_id=tenant.partner.id, organization_id=tenant.plus.id, name="Renewals")
    session.add(made)
    session.flush()
    call(session, tenant.plus, IN_OCTOBER, 12 * 60, campaign_id=made.id, cost="0.2345")
    call(session, tenant.plus, IN_OCTOBER, 150)
    session.commit()
    return made


@pytest.fixture
def admin(signed_in: SignIn, tenant: Tenant, campaign: Campaign) -> Browser:
    return signed_in(tenant.staff[Role.PARTNER_ADMIN])


def lines(text: str) -> list[str]:
    return text.removeprefix("\ufeff").splitlines()


def test_the_costs_name_a_suspended_organization(
    session: Session, admin: Browser, tenant: Tenant
) -> None:
    pages = "/costs", f"/costs/{tenant.plus.id}"
    assert ["Suspended" in admin.get(page).text for page in pages] == [False, False]
    organizations.suspend(session, OPERATOR, tenant.plus.id)
    session.commit()
    assert [admin.get(page).text.count("Suspended</span>") for page in pages] == [1, 1]


def test_the_page_shows_price_costs_and_margin_of_a_month(admin: Browser, tenant: Tenant) -> None:
    page = unescape(admin.get("/costs?month=2026-10").text)
    for shown in (tenant.plus.name, "$99.78", "$0.32", "$0.09 estimated", "$99.46", "99.7"):
        assert shown in page
    assert "Costs and margin" in page
    assert "No one charges simulated calls: Overview and Usage count them" in page


def test_costs_that_are_rounded_otherwise_to_add_up_are_explained(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    note, day = "one may differ by a cent from its own page.", datetime(2026, 11, 19, tzinfo=UTC)
    pages = ("/costs?month=2026-11", f"/costs/{tenant.plus.id}?month=2026-11")

    def explained() -> list[str]:
        return [page for page in pages if note in unescape(admin.get(page).text)]

    for cost, more in (("0.80", "0.0044"), ("4.81", "0.0043")):
        assert explained() == []
        organization = tenant.plus if more == "0.0044" else tenant.organization
        call(session, organization, day, 60, cost=cost)
        session.commit()
        assert explained() == []
        call(session, organization, day, 60, cost=more)
        session.commit()
    assert explained() == [pages[0]]


def test_answered_calls_prices_and_costs_link_to_their_details(
    admin: Browser, tenant: Tenant, campaign: Campaign
) -> None:
    figure = re.compile(r'<a href="(/[^"]*)">(?:<span class="nowrap">)?([^<]+)<')
    statement = f"/statements/{tenant.plus.id}?month=2026-10"
    its_costs = f"/costs/{tenant.plus.id}?month=2026-10"
    for page in ("/costs?month=2026-10", its_costs):
        table = admin.get(page).text.partition("</thead>")[2].rpartition("<tbody>")[2]
        found = {unescape(url): words for url, words in figure.findall(table)}
        counts = {url: int(words) for url, words in found.items() if url.startswith("/calls?")}
        rows = {url: admin.get(url).text.count('<a class="name" href="/calls/') for url in counts}
        assert rows == counts
        assert set(counts.values()) == ({2} if page == "/costs?month=2026-10" else {1, 2})
        amounts = {
            url: words
            for url, words in found.items()
            if str(tenant.plus.id) in url and "$" in words
        }
        assert set(amounts) == ({statement, its_costs} if page != its_costs else {statement})
        assert {words in unescape(admin.get(url).text) for url, words in amounts.items()} == {True}
    assert "Billed calls, by the UTC day they were placed." in admin.get(next(iter(counts))).text


@pytest.mark.usefixtures("campaign")
def test_usage_costs_and_spending_explain_why_their_carrier_costs_differ(
    signed_in: SignIn, session: Session, tenant: Tenant
) -> None:
    """In November carriers reported $0.2345 and still owe the cost of 3 minutes at $0.03; 2
    simulated minutes count at $0.03 too."""
    day = datetime(2026, 11, 19, 12, tzinfo=UTC)
    call(session, tenant.plus, day, 12 * 60, cost="0.2345")
    call(session, tenant.plus, day, 3 * 60)
    call(session, tenant.plus, day, 2 * 60, carrier=CarrierKind.SIMULATOR)
    session.commit()
    admin = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    explained = (
        "Carrier costs of November 2026: Reported carrier cost on Usage : $0.23. "
        "Carrier cost on Costs and margin and in the report, with $0.09 estimated until carriers "
        "report the rest: $0.32. Spending , with $0.06 test money for simulated calls: $0.38."
    )
    plus = tenant.plus.id
    for path in (
        "/usage",
        f"/usage?organization={plus}",
        "/costs",
        f"/costs/{plus}",
        "/settings/spending",
        f"/organizations/{plus}/spending",
    ):
        assert explained in text_of(admin.get(path).text), path
    parts = "With $0.09 estimated and $0.06 test money for simulated calls"
    named = {
        "/usage": "Month (UTC) Charged attempts Reported by carriers",
        "/costs": "Carrier cost $0.32 With $0.09 estimated",
        f"/costs/{plus}": "Carrier cost $0.32 With $0.09 estimated",
        "/report/month?month=2026-11": "Carrier cost $0.32 With $0.09 estimated",
        "/settings/spending": parts,
        f"/organizations/{plus}/spending": parts,
    }
    assert {path: words in text_of(admin.get(path).text) for path, words in named.items()} == (
        dict.fromkeys(named, True)
    )
    assert "Spending $0.38" in text_of(admin.get("/settings/spending").text)
    earlier = text_of(admin.get("/costs?month=2026-10").text)
    assert "for simulated calls" not in earlier  # Spending shows this month only
    customers = signed_in(tenant.staff[Role.ADMIN])
    assert "/settings/spending" not in customers.get("/costs").text, "which answers them 404"
    for path in ("/usage", f"/usage?organization={plus}", "/costs", f"/costs/{plus}"):
        assert "Change billing, addresses" not in customers.get(path).text, "none is lacking"


def test_the_bar_of_a_budget_says_how_much_of_it_is_test_money(
    admin: Browser, session: Session, tenant: Tenant
) -> None:
    customer = f"/organizations/{tenant.plus.id}"
    forms = ["/settings/spending/budget", f"{customer}/budget"]
    pages = ["/settings/spending", f"{customer}/spending", *forms]
    for path in forms:
        admin.post(path, {"budget": "1", "levels": "", "recipients": ""}, page=path)
    words = "Alerts at 50 %, 80 %, 100 %."
    noted = f"{words} With $0.06 test money for simulated calls"

    def pages_with(text: str) -> list[str]:
        return [page for page in pages if text in text_of(admin.get(page).text)]

    day = datetime(2026, 11, 19, 12, tzinfo=UTC)
    call(session, tenant.plus, day, 12 * 60, cost="0.2345")
    session.commit()
    assert pages_with(words) == pages
    assert pages_with(noted) == []
    call(session, tenant.plus, day, 2 * 60, carrier=CarrierKind.SIMULATOR)
    session.commit()
    assert pages_with(noted) == pages


@pytest.mark.parametrize("month", ["0001-01", "1969-12", "9999-12", "2026-13", "abc"])
def test_a_month_that_has_no_costs_is_refused(admin: Browser, tenant: Tenant, month: str) -> None:
    pages = ("/costs", "/costs.csv", f"/costs/{tenant.plus.id}", f"/statements/{tenant.plus.id}")
    for page in pages:
        answer = admin.get(f"{page}?month={month}")
        assert answer.status_code == 400
        assert "Enter a month like 2026-02, not later than this one." in answer.text


def test_the_price_says_how_much_of_it_organizations_in_trial_mode_pay(
    admin: Browser, session: Session, tenant: Tenant
) -> None:
    """Trial mode changes no price (docs/decisions/rating.md)."""
    tenant.plus.trial_ended_at = None
    session.commit()
    words = "Includes $99.00 of 1 organization in trial mode"
    for path in ("/costs", f"/costs/{tenant.plus.id}", "/report/month", "/overview/earnings"):
        label = "Price" if "/costs/" in path else "Price to customers"
        assert f"{label} $99.00" in text_of(admin.get(path).text), path
        assert words in text_of(admin.get(path).text), path
    tenant.organization.trial_ended_at = None
    session.commit()
    assert "Includes $99.00 of 2 organizations in trial mode" in text_of(admin.get("/costs").text)
    assert admin.get("/costs").text.count("· Trial mode") == 2
    tenant.plus.trial_ended_at = datetime(2026, 11, 1, tzinfo=UTC)
    session.commit()
    assert "in trial mode" not in text_of(admin.get("/costs").text)


def test_an_organization_shows_its_campaigns(admin: Browser, tenant: Tenant) -> None:
    page = unescape(admin.get(f"/costs/{tenant.plus.id}?month=2026-10").text)
    for shown in ("Renewals", "Calls without a campaign", "$79.82", "$19.96", "View statement"):
        assert shown in page


def test_a_phone_shows_costs_calls_and_minutes_below_each_name_and_the_total(
    admin: Browser, tenant: Tenant
) -> None:
    for page, rows in (("/costs", 1), (f"/costs/{tenant.plus.id}", 2)):
        shown = admin.get(f"{page}?month=2026-10").text.replace("\N{NO-BREAK SPACE}", " ")
        lines = [text_of(line) for line in re.findall(r'cell-phone">(.*?)</td>', shown, re.DOTALL)]
        assert len(lines) == rows + 1
        assert lines[-1] == "Carrier cost: $0.32 2 calls · 15 min"


def test_the_file_has_a_row_for_each_organization(
    admin: Browser, tenant: Tenant, campaign: Campaign
) -> None:
    rows = lines(admin.get("/costs.csv?month=2026-10").text)
    assert rows[0] == (
        'Month (UTC),Organization,Plan,Answered calls,Billed minutes,"Carrier cost, reported",'
        '"Carrier cost, estimated",Carrier cost currency,Model cost,Model cost currency,Price,'
        "Price currency,Margin,Invoice number,ID"
    )
    nothing, figures = "0,0,0.00,0.00,USD,0.00,USD,0.00,USD,0.00,", "2,15,0.23,0.09,USD,0.00,USD"
    assert sorted(rows[1:]) == [
        f"2026-10,{tenant.organization.name},Free,{nothing},{tenant.organization.id}",
        f"2026-10,{tenant.plus.name},Plus,{figures},99.78,USD,99.46,,{tenant.plus.id}",
    ]
    found = lines(admin.get(f"/costs.csv?month=2026-10&organization={tenant.plus.id}").text)
    name = tenant.plus.name
    assert [row.split(",")[1:6] for row in found] == [
        ["Organization", "Campaign", "Plan", "Answered calls", "Billed minutes"],
        [name, "Renewals", "Plus", "1", "12"],
        [name, "Without a campaign", "Plus", "1", "3"],
        [name, "Total", "Plus", "2", "15"],
    ]
    ids = [row.rpartition(",")[2] for row in found[1:]]
    assert ids == [str(campaign.id), "", str(tenant.plus.id)]
    prices = [row.split(",")[11:14] for row in found[1:]]
    assert prices == [
        ["79.82", "USD", "79.59"],
        ["19.96", "USD", "19.87"],
        ["99.78", "USD", "99.46"],
    ]


def test_the_monthly_report_shows_costs_to_those_who_may_see_them(
    session: Session, signed_in: SignIn, admin: Browser, tenant: Tenant
) -> None:
    page = unescape(admin.get("/report/month?month=2026-10").text)
    for shown in ("Price and margin", "$99.78", "$0.32", "$99.46"):
        assert shown in page
    page = unescape(admin.get(f"/report/month?month=2026-10&organization={tenant.plus.id}").text)
    assert "$99.46" in page
    editor = signed_in(tenant.staff[Role.PARTNER_EDITOR])
    assert "$99" not in editor.get("/report/month?month=2026-10").text

    admin.post("/report/schedule/test", page="/report/schedule")
    admin.post(f"/report/schedule/test?organization={tenant.plus.id}", page="/report/schedule")
    sent = select(Mail.details).where(Mail.kind == "monthly_report").order_by(Mail.id)
    of_partner, of_organization = (details["figures"] for details in session.scalars(sent))
    assert [(name, now.replace("\N{NO-BREAK SPACE}", " ")) for name, now, _ in of_partner[4:]] == [
        ("Price to customers", "$99.78"),
        ("Carrier cost", "$0.32"),
        ("Margin", "$99.46"),
    ]
    assert len(of_organization) == 4


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("Castell Property Management", "castell-property-management"),
        ("Łódź & Grüner Gärten", "lodz-gruner-garten"),
        ("田中歯科", "customer"),
        (f"{'x' * 79} y", "x" * 79),
    ],
)
def test_files_are_named_after_the_customer_and_the_month(
    session: Session, admin: Browser, tenant: Tenant, name: str, plain: str
) -> None:
    tenant.plus.name = name
    session.commit()
    words = plain if plain != "customer" else "organization"
    named = {
        f"/statements/{tenant.plus.id}.csv?month=2026-10": f"preview-{plain}-2026-10.csv",
        f"/costs.csv?month=2026-10&organization={tenant.plus.id}": f"costs-{words}-2026-10.csv",
        "/costs.csv?month=2026-10": "costs-2026-10.csv",
    }
    assert {
        path: admin.get(path).headers["Content-Disposition"].partition('"')[2].rstrip('"')
        for path in named
    } == named


def test_the_pdf_of_the_report_shows_what_its_page_shows(
    admin: Browser, tenant: Tenant, printed_pdfs: list[dict[str, Any]]
) -> None:
    october = admin.get(f"/report/month.pdf?month=2026-10&organization={tenant.plus.id}")
    named = 'attachment; filename="report-northwind-dental-2026-10.pdf"'
    assert october.headers["Content-Disposition"] == named
    admin.get("/report/month.pdf?month=2026-11")
    earned = next(
        rows for title, _, rows in printed_pdfs[0]["tables"] if title == "Price and margin"
    )
    assert [tuple(word.replace("\N{NO-BREAK SPACE}", " ") for word in row) for row in earned] == [
        ("Price to customers", "$99.78"),
        ("Carrier cost ($0.09 estimated)", "$0.32"),
        ("Margin (99.7 % of the price)", "$99.46"),
    ]
    assert [data["subtitle"].replace("\N{NO-BREAK SPACE}", " ") for data in printed_pdfs] == [
        "Northwind Dental, 1–31 Oct 2026, compared with 1–30 Sep 2026.",
        "Northwind, 1–20 Nov 2026 (today so far), compared with 1–20 Oct 2026.",
    ]


def test_model_costs_lower_the_margin(app: Flask, admin: Browser) -> None:
    found: Settings = app.extensions["settings"]
    costs = {"spending_model_per_minute": "0.1", "spending_model_per_call": "0.25"}
    exact = {name: Decimal(cost) for name, cost in costs.items()}
    app.extensions["settings"] = found.model_copy(update=exact)
    page = unescape(admin.get("/costs?month=2026-10").text)
    assert "$2.00" in page
    assert "$97.46" in page


def test_a_statement_is_a_page_a_csv_file_and_a_pdf(
    session: Session, admin: Browser, tenant: Tenant
) -> None:
    while closing.close_due(session, datetime(2026, 11, 1, 3, tzinfo=UTC)):
        session.commit()
    address = f"/statements/{tenant.plus.id}"
    page = unescape(admin.get(f"{address}?month=2026-10").text)
    facts = "Period 1 Oct 2026 to 31 Oct 2026, UTC Invoice number 000001 Issued"
    assert facts in text_of(page).replace("\u00a0", " ")
    for shown in (
        "Plus Plan 1 × $99.00 1 $99.00 $99.00",
        "15 used, 10 included 5 × $0.155 5 $0.155 $0.78",
        "$99.78",
    ):
        assert shown in text_of(page)
    assert f"To {tenant.plus.name} Closed without an address. Set address" in text_of(page)
    assert lines(admin.get("/costs.csv?month=2026-10").text)[-1].split(",")[-2] == "000001"
    issued = f"{session.scalars(select(Statement.closed_at)).first():%Y-%m-%d}"
    columns, *rows = lines(admin.get(f"{address}.csv?month=2026-10").text)
    assert columns == (
        "Customer,Month (UTC),First day,Last day,Issued,Invoice number,Description,Detail,Quantity,"
        "Unit price,Amount,Currency,Seller,Seller address,Seller tax ID,Buyer,Buyer address,"
        "Buyer tax ID"
    )
    assert rows == [
        f"{tenant.plus.name},2026-10,2026-10-01,2026-10-31,{issued},000001,{line},"
        f"{tenant.partner.name},,,{tenant.plus.name},,"
        for line in (
            "Plus,Plan,1,99.00,99.00,USD",
            'Minutes beyond the plan,"15 used, 10 included",5,0.155,0.78,USD',
            "Total,,,,99.78,USD",
        )
    ]
    file = admin.get(f"{address}.pdf?month=2026-10")
    assert (file.mimetype, file.data[:5]) == ("application/pdf", b"%PDF-")
    named = 'attachment; filename="statement-northwind-dental-2026-10.pdf"'
    assert file.headers["Content-Disposition"] == named


@pytest.mark.usefixtures("campaign")
def test_a_month_that_waits_to_be_closed_is_offered(
    session: Session, signed_in: SignIn, tenant: Tenant, clock: SetClock
) -> None:
    def page(query: str = "") -> str:
        staff = signed_in(tenant.staff[Role.PARTNER_ADMIN])
        return staff.get(f"/statements/{tenant.plus.id}{query}").text

    def offered() -> list[str]:
        return re.findall(r'<option value="(20[0-9-]+)"', page())

    while closing.close_due(session, clock.now):
        session.commit()
    assert offered() == ["2026-11", "2026-10"]
    clock.set("2026-12-01T01:00")
    assert offered() == ["2026-12", "2026-11", "2026-10"]
    ended = "The month has ended. A preview until it is closed, a few hours later."
    assert ended in page("?month=2026-11")
    assert ended not in page()
    while closing.close_due(session, clock.now + timedelta(hours=3)):
        session.commit()
    assert offered() == ["2026-12", "2026-11", "2026-10"]


def test_a_statement_says_what_is_paid_through_stripe(
    session: Session, admin: Browser, tenant: Tenant
) -> None:
    subscription = Subscription(
        partner_id=tenant.partner.id,
        organization_id=tenant.plus.id,
        reference="sub_1",
        tier=Tier.PLUS,
        status=SubscriptionStatus.ACTIVE,
        created_at=IN_OCTOBER,
        seen_at=IN_OCTOBER,
    )
    session.add(subscription)
    while closing.close_due(session, datetime(2026, 11, 1, 3, tzinfo=UTC)):
        session.commit()
    address = f"/statements/{tenant.plus.id}?month=2026-10"
    waits = "The plan is paid through Stripe. $0.78 for usage is not yet on a Stripe invoice."
    assert waits in unescape(admin.get(address).text)
    stored = session.scalars(select(Statement).where(Statement.extra == 78)).one()
    stored.invoice_item = "ii_1"
    session.commit()
    done = "The plan is paid through Stripe. $0.78 for usage is on the next Stripe invoice."
    assert done in unescape(admin.get(address).text)


def test_a_statement_shows_plan_usage_and_no_line_of_zero(admin: Browser, tenant: Tenant) -> None:
    page = text_of(admin.get(f"/statements/{tenant.plus.id}?month=2026-11").text)
    assert "Minutes beyond the plan" not in page
    file = lines(admin.get(f"/statements/{tenant.plus.id}.csv?month=2026-11").text)
    assert [line.split(",")[6] for line in file[1:]] == ["Plus", "Total"]
    assert "0 of 10 included minutes used." in page


def test_the_pdf_of_a_statement_names_what_was_used_and_whether_it_is_a_preview(
    admin: Browser, tenant: Tenant, printed_pdfs: list[dict[str, Any]]
) -> None:
    admin.get(f"/statements/{tenant.plus.id}.pdf?month=2026-11")
    [shown] = printed_pdfs
    assert shown["title"] == "Preview of the statement for November 2026"
    assert [label for label, _ in shown["facts"]] == ["Period", "Usage"]
    assert shown["facts"][1][1] == "0 of 10 included minutes used."


def test_a_month_that_is_not_closed_is_a_preview(admin: Browser, tenant: Tenant) -> None:
    page = unescape(admin.get(f"/statements/{tenant.plus.id}").text)
    assert "Statement for November 2026" in page
    assert "A preview until it is closed on 1\u00a0Dec\u00a02026 (UTC)." in page


def test_members_see_their_own_statement_and_no_costs(
    signed_in: SignIn, tenant: Tenant, campaign: Campaign
) -> None:
    member = signed_in(tenant.plus_user)
    asked = {
        "/costs": 404,
        "/costs.csv": 404,
        f"/costs/{tenant.plus.id}": 404,
        f"/statements/{tenant.plus.id}?month=2026-10": 200,
        f"/statements/{tenant.plus.id}.pdf": 200,
        f"/statements/{tenant.organization.id}": 404,
    }
    assert {path: member.get(path).status_code for path in asked} == asked
    statement = member.get(f"/statements/{tenant.plus.id}?month=2026-10").text
    assert tenant.plus.name in unescape(statement)
    assert "Margin" not in statement


def test_the_editor_sees_no_margins(signed_in: SignIn, tenant: Tenant, campaign: Campaign) -> None:
    assert signed_in(tenant.staff[Role.PARTNER_EDITOR]).get("/costs").status_code == 404
    assert "Margin" in signed_in(tenant.staff[Role.ADMIN]).get("/costs").text


def test_operators_find_no_links_to_pages_of_a_partner(operator: Browser, tenant: Tenant) -> None:
    """Neither on the costs of an organization nor on its usage."""
    links = set()
    for path in (f"/costs/{tenant.plus.id}?month=2026-10", f"/usage?organization={tenant.plus.id}"):
        page = operator.get(path)
        assert page.status_code == 200
        links |= set(re.findall(r'href="(/(?:costs|calls)\?[^"]*)"', page.text))
    assert links == set()


def test_costs_of_another_partner_are_not_found(
    signed_in: SignIn, other_tenant: Tenant, tenant: Tenant, campaign: Campaign
) -> None:
    stranger = signed_in(other_tenant.staff[Role.PARTNER_ADMIN])
    assert tenant.plus.name not in stranger.get("/costs?month=2026-10").text
    for path in (f"/costs/{tenant.plus.id}", f"/statements/{tenant.plus.id}"):
        assert stranger.get(path).status_code == 404


@pytest.mark.parametrize("month", ["2027-01", "2026-13", "soon"])
def test_a_future_month_is_refused(admin: Browser, month: str) -> None:
    answer = admin.get(f"/costs?month={month}")
    assert answer.status_code == 400
    assert "Enter a month like 2026-02, not later than this one." in unescape(answer.text)


def test_an_organization_is_listed_from_the_month_it_was_added(
    session: Session, admin: Browser, tenant: Tenant
) -> None:
    tenant.organization.created_at = datetime(2026, 11, 5, tzinfo=UTC)
    tenant.plus.created_at = datetime(2026, 9, 30, 23, tzinfo=UTC)
    session.commit()
    newer, older = names = tenant.organization.name, tenant.plus.name

    def shown(address: str) -> list[str]:
        page = unescape(admin.get(address).text)
        return [name for name in names if name in page]

    months = ("2026-08", "2026-09", "2026-10", "2026-11")
    assert {month: shown(f"/costs?month={month}") for month in months} == {
        "2026-08": [],
        "2026-09": [older],
        "2026-10": [older],
        "2026-11": [newer, older],
    }
    assert shown("/costs.csv?month=2026-10") == [older]

    def offered(address: str) -> list[str]:
        return re.findall(r'<option value="(\d{4}-\d\d)"', admin.get(address).text)

    assert offered("/costs") == ["2026-11", "2026-10", "2026-09"]
    assert offered("/costs?month=2026-08") == ["2026-11", "2026-10", "2026-09", "2026-08"]
    assert offered(f"/costs/{tenant.organization.id}") == ["2026-11"]


def test_a_negative_margin_has_a_minus_and_is_red(
    session: Session, admin: Browser, tenant: Tenant
) -> None:
    call(session, tenant.plus, IN_OCTOBER, 60, cost="150")
    session.commit()
    page = unescape(admin.get("/costs?month=2026-10").text)
    margins = re.findall(
        r'<td class="end phone-second"[^>]*>(.+?)</td>', page.partition("By organization")[2]
    )
    negative = '<span class="is-danger">−$50.39</span>'
    assert margins == [negative, "$0.00", negative]  # the lowest first, then the total


def months_of(admin: Browser, path: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the data of the charts by month, and the rows of the table next to them."""
    page = admin.get(path).text.partition(">View as table<")
    charts = re.findall(r'data-chart="overlaid".*?json">\s*(.+?)</script>', page[0], re.DOTALL)
    rows = re.findall(r"<tr.*?</tr>", page[2].partition("</table>")[0], re.DOTALL)
    return [json.loads(each) for each in charts], [text_of(row) for row in rows[1:]]


def test_costs_show_the_last_months_with_links_to_their_pages(
    session: Session, admin: Browser, tenant: Tenant
) -> None:
    paths = ("/costs", f"/costs/{tenant.plus.id}")
    while closing.close_due(session, datetime(2026, 11, 1, 3, tzinfo=UTC)):
        session.commit()
    for path in paths:
        [chart], rows = months_of(admin, path)
        assert chart["days"] == [f"{2025 + at // 12}-{at % 12 + 1:02}-01" for at in range(11, 23)]
        assert chart["urls"][-2:] == [f"{path}?month=2026-10", f"{path}?month=2026-11"]
        prices, costs = chart["series"]
        label = "Price to customers" if path == "/costs" else "Price"
        assert (prices["label"], prices["values"][-2:]) == (label, [99.78, 99.0])
        assert (costs["label"], costs["values"][-3:]) == ("Carrier cost", [0.0, 0.32, 0.0])
        assert rows[:2] == [
            "November 2026 Through today (partial) – – $99.00 – $99.00",
            "October 2026 2 15 $99.78 $0.32 $0.09 estimated $99.46",
        ]


def test_a_month_costs_the_same_in_the_chart_as_on_its_page_closed_or_not(
    session: Session, tenant: Tenant, campaign: Campaign
) -> None:
    call(session, tenant.organization, datetime(2026, 9, 30, 12, tzinfo=UTC), 200, cost="0.5")
    tenant.organization.created_at = datetime(2026, 9, 5, tzinfo=UTC)
    session.commit()
    caller, model = tenant.caller(Role.PARTNER_ADMIN), ModelRate(100_000, 250_000)
    today = datetime(2026, 11, 20, tzinfo=UTC).date()
    for _turn in ("open", "closed"):
        for organization_id in (None, tenant.plus.id, tenant.organization.id):
            found = reporting.earnings_by_month(session, caller, today, model, organization_id)
            for each in found:
                page = reporting.month_earnings(session, caller, each.month, model, organization_id)
                assert page is not None
                assert each.total is not None
                assert (each.total.price, each.total.currency) == (page.price, page.currency)
                assert (each.total.used, each.total.costs) == (page.used, page.costs)
                assert each.total.margin == page.margin
        while closing.close_due(session, datetime(2026, 11, 1, 3, tzinfo=UTC)):
            session.commit()


@pytest.mark.usefixtures("campaign")
def test_a_month_is_rated_once_for_its_figures_and_the_chart(
    session: Session, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    rated: list[date] = []
    bills = statements.bills

    def counted(session: Session, found: Any, month: date, **known: Any) -> Any:
        rated.append(month)
        return bills(session, found, month, **known)

    monkeypatch.setattr(statements, "bills", counted)
    caller, today = tenant.caller(Role.PARTNER_ADMIN), date(2026, 11, 20)
    found = reporting.earnings(session, caller, date(2026, 11, 1), today, ModelRate())
    assert len(rated) == len(set(rated)) == len(found.by_month)
    assert [found.last, found.total] == [each.total for each in found.by_month[-2:]]


def test_only_the_own_plan_of_an_organization_has_a_price_so_far(
    session: Session, admin: Browser, tenant: Tenant
) -> None:
    publish(session, tenant, datetime(2026, 10, 2, tzinfo=UTC), PLUS=TERMS, BASIC=TERMS)
    session.commit()
    shown = text_of(admin.get(f"/organizations/{tenant.plus.id}/plan").text)
    prices = re.findall(r"(Basic|Plus)\b[^·]*·[^·]*· (this month [a-z]+)", shown)
    assert prices == [("Basic", "this month would"), ("Plus", "this month so")]


def test_prices_and_costs_in_two_currencies_have_a_chart_each(
    session: Session, admin: Browser, tenant: Tenant
) -> None:
    euros = replace(TERMS, currency="EUR")
    publish(session, tenant, datetime(2026, 10, 2, tzinfo=UTC), PLUS=euros)
    session.commit()
    charts, rows = months_of(admin, f"/costs/{tenant.plus.id}")
    earlier, later = (
        {each["label"]: each["values"][-3:] for each in chart["series"]} for chart in charts
    )
    assert earlier == {"Price": [99.0, None, None], "Carrier cost": [0.0, 0.32, 0.0]}
    assert later == {"Price": [None, 99.78, 99.0]}
    assert rows[1] == "October 2026 2 15 €99.78 $0.32 $0.09 estimated –"


def test_a_single_month_is_no_chart(session: Session, admin: Browser, tenant: Tenant) -> None:
    tenant.organization.created_at = datetime(2026, 11, 5, tzinfo=UTC)
    session.commit()
    assert months_of(admin, f"/costs/{tenant.organization.id}") == ([], [])


@pytest.mark.parametrize(
    ("sort", "first", "direction"),
    [
        ("name", "Bakery", "ascending"),
        ("-name", "Dental", "descending"),
        ("price", "Bakery", "ascending"),
        ("-price", "Dental", "descending"),
        ("carrier", "Bakery", "ascending"),
        ("-carrier", "Dental", "descending"),
        ("margin", "Bakery", "ascending"),
        ("-margin", "Dental", "descending"),
        ("size", "Bakery", "ascending"),
        ("", "Bakery", "ascending"),
    ],
)
def test_costs_are_sorted_by_name_or_by_an_amount(
    admin: Browser, monkeypatch: pytest.MonkeyPatch, sort: str, first: str, direction: str
) -> None:
    monkeypatch.setattr(lists, "PAGE_SIZE", 1)
    page = unescape(admin.get(f"/costs?month=2026-10&sort={sort}").text)
    further = re.search(r'href="([^"]+)" rel="next"', page)
    assert further
    pages = [page, unescape(admin.get(further[1]).text)]
    names = [re.findall(r'dir="auto">Northwind (\w+)</a>', each) for each in pages]
    other = {"Bakery": "Dental", "Dental": "Bakery"}[first]
    assert names == [[first], [other]]
    assert re.findall('aria-sort="([a-z]+)"', page) == [direction]
    assert 'rel="next"' not in pages[1]


def test_organizations_without_a_margin_come_last(
    session: Session, admin: Browser, tenant: Tenant
) -> None:
    call(session, tenant.organization, IN_OCTOBER, 60, cost="0.5", currency="EUR")
    session.commit()
    for sort in ("margin", "-margin"):
        page = unescape(admin.get(f"/costs?month=2026-10&sort={sort}").text)
        names = re.findall(r'dir="auto">Northwind (\w+)</a>', page)
        assert names == ["Dental", "Bakery"]
