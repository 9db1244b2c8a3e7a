"""Usage: ranges, comparison, scope, files; the figures are those of the JSON and of the calls."""

import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import Role, UsageUnit
from app.models import ConversationDay, Organization, PartnerDay, PartnerTier, User
from app.services import rollup
from app.services.pricing.plans import PlanTerms
from tests.fixtures.clock import SetClock
from tests.fixtures.tenants import Tenant, bearer, converse, make_user, organization_of
from tests.portal.conftest import Browser
from tests.portal.page_text import rows_of
from tests.services.billing.conftest import publish

SignedIn = Callable[[User], Browser]
DAY = date(2026, 5, 4)
RANGE = "start=2026-05-01&end=2026-05-04"


@pytest.fixture
def tenant_with_conversations(session: Session, tenant: Tenant, other_tenant: Tenant) -> Tenant:
    for days, count in ((0, 4), (3, 2), (30, 1), (33, 7)):
        converse(session, tenant.plus, DAY - timedelta(days=days), count)
    converse(session, tenant.organization, DAY, 3)
    converse(session, other_tenant.plus, DAY, 50)
    session.commit()
    return tenant


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)).replace("\u00a0", " ")


def chart_of(html: str) -> Any:
    [found] = re.findall(
        r'data-chart=.*?<script type="application/json">(.*?)</script>', html, re.DOTALL
    )
    return json.loads(found)


def file_of(browser: Browser, path: str) -> list[list[str]]:
    answer = browser.get(path)
    assert answer.content_type == "text/csv; charset=utf-8"
    return rows_of(answer.text)


def test_a_range_is_counted_and_compared_with_the_days_before(
    tenant_with_conversations: Tenant, signed_in: SignedIn
) -> None:
    page = text_of(
        signed_in(tenant_with_conversations.staff[Role.ADMIN]).get(f"/usage?{RANGE}").text
    )
    assert "1 May 2026 to 4 May 2026, UTC." in page
    assert "Conversations 9 ▲ up 12.5 % from 8" in page
    assert "Compared with 1 Apr 2026 to 4 Apr 2026." in page
    browser = signed_in(tenant_with_conversations.staff[Role.ADMIN])
    assert "through today (partial), UTC." in text_of(browser.get("/usage").text)
    nothing = browser.get("/usage?start=2025-01-01&end=2025-01-02").text
    assert 'aria-label="No conversations in this range."' in nothing
    coming = text_of(browser.get("/usage?start=2099-01-01&end=2099-01-31").text)
    assert "These days are still to come." in coming
    assert "Conversations" not in coming
    nothing = text_of(nothing)
    assert "Conversations 0 None in the previous period With a person 0 With voicemail 0" in nothing


@pytest.mark.parametrize(
    ("start", "end", "earlier"),
    [
        ("2026-04-30", "2026-04-30", "29 Apr 2026"),
        ("2026-05-01", "2026-05-31", "1 Apr 2026 to 30 Apr 2026"),
        ("2026-03-01", "2026-03-30", "1 Feb 2026 to 28 Feb 2026"),
        ("2026-01-01", "2026-01-01", "1 Dec 2025"),
        ("2026-05-02", "2026-05-04", "29 Apr 2026 to 1 May 2026"),
        ("2026-04-01", "2026-05-04", "26 Feb 2026 to 31 Mar 2026"),
    ],
)
def test_days_from_the_first_of_a_month_are_compared_with_those_of_the_month_before(
    session: Session, tenant: Tenant, signed_in: SignedIn, start: str, end: str, earlier: str
) -> None:
    converse(session, tenant.plus, date(2026, 5, 1))
    session.commit()
    page = text_of(signed_in(tenant.staff[Role.ADMIN]).get(f"/usage?start={start}&end={end}").text)
    assert f"Compared with {earlier}." in page
    if start == end:
        assert f"{date.fromisoformat(start):%-d %b %Y}, UTC." in page


def test_overview_usage_and_organization_say_the_same_of_one_month(
    session: Session, tenant_with_conversations: Tenant, signed_in: SignedIn, clock: SetClock
) -> None:
    clock.set("2026-05-04T12:00")
    converse(session, tenant_with_conversations.plus, date(2026, 4, 30), 5)
    session.commit()
    browser = signed_in(tenant_with_conversations.staff[Role.ADMIN])
    [month] = re.findall(r'href="(/usage[^"]+)"[^>]*>This month', browser.get("/usage").text)
    pages = ("/", unescape(month), f"/organizations/{tenant_with_conversations.plus.id}", "/usage")
    shown = {
        page: re.findall(r"(?:up|down) [0-9.]+ % from \d+", text_of(browser.get(page).text))[0]
        for page in pages
    }
    assert shown == {
        pages[0]: "up 12.5 % from 8",
        pages[1]: "up 12.5 % from 8",
        pages[2]: "down 25.0 % from 8",
        pages[3]: "up 12.5 % from 8",
    }
    exported = file_of(browser, pages[1].replace("/usage", "/usage.csv"))
    assert [row[6] for row in exported[1:]] == ["8", "0"]


def test_today_so_far_is_shown_beside_the_whole_day_before_and_not_as_a_change(
    session: Session, tenant: Tenant, signed_in: SignedIn, clock: SetClock
) -> None:
    clock.set("2026-05-01T01:00")
    converse(session, tenant.plus, date(2026, 4, 1), 6)
    converse(session, tenant.plus, date(2026, 5, 1), 2)
    session.commit()
    admin = signed_in(tenant.staff[Role.ADMIN])
    organization = f"/organizations/{tenant.plus.id}"
    today = "/usage?start=2026-05-01&end=2026-05-01"
    for path in ("/", "/usage", today, "/report/month", organization, f"{organization}/usage"):
        page = text_of(admin.get(path).text)
        assert "Conversations 2 6 on all of 1 Apr 2026" in page, path
        assert not re.search(r"[▲▼]|Growing and falling", page), path
    listed = admin.get("/usage").text.partition("<thead")[2].partition("</table>")[0]
    assert "Conversations" in listed
    assert "Change" not in listed
    clock.set("2026-05-02T01:00")
    admin = signed_in(tenant.staff[Role.ADMIN])
    for path in ("/", "/usage", "/report/month", organization, f"{organization}/usage"):
        assert "down 66.7 % from 6" in text_of(admin.get(path).text), path


def test_a_talk_time_below_a_minute_is_in_seconds(
    session: Session, tenant: Tenant, signed_in: SignedIn, clock: SetClock
) -> None:
    clock.set("2026-05-02T01:00")
    converse(session, tenant.plus, date(2026, 5, 1))
    converse(session, tenant.plus, date(2026, 4, 1), 2)
    for table in (ConversationDay, PartnerDay):
        session.execute(update(table).where(table.day == date(2026, 5, 1)).values(seconds=17))
    session.commit()
    admin = signed_in(tenant.staff[Role.ADMIN])
    for path in ("/", "/report/month"):
        page = text_of(admin.get(path).text)
        assert "Talk time 17 s ▼ down 85.8 % from 2 min" in page, path
    assert "Talk time 17 s On average 17 s each" in text_of(admin.get("/usage").text)
    page = text_of(admin.get(f"/organizations/{tenant.plus.id}/usage").text)
    assert "Talk time 17 s On average 17 s each" in page
    assert "April 2026 With a person: 1 With voicemail: 1 · 2 min 2 1 1 2 min" in page


def test_the_use_of_plans_is_shown_only_for_this_month(
    session: Session, tenant: Tenant, signed_in: SignedIn, clock: SetClock
) -> None:
    clock.set("2026-05-02T01:00")
    terms = PlanTerms(9_900, "USD", unit=UsageUnit.MINUTE, included=500, overage_micros=100_000)
    publish(session, tenant, datetime(2026, 1, 1, tzinfo=UTC), PLUS=terms)
    tenant.plus.created_at = datetime(2025, 11, 1, tzinfo=UTC)
    for day in (date(2026, 4, 1), date(2026, 5, 1)):
        converse(session, tenant.plus, day)
    session.commit()
    admin = signed_in(tenant.staff[Role.ADMIN])
    assert "Included this month" in admin.get("/usage").text.partition("By organization")[2]
    for days in ("start=2026-04-01&end=2026-04-30", "start=2026-04-20&end=2026-05-02"):
        page = admin.get(f"/usage?{days}").text.partition("<table")[2].partition("</table>")[0]
        assert "Northwind Dental" in page
        assert "Included this month" not in page
        assert "of 500 minutes" not in page


def test_the_chart_of_this_month_reaches_to_its_last_day(
    session: Session, tenant: Tenant, signed_in: SignedIn, clock: SetClock
) -> None:
    clock.set("2026-05-01T01:00")
    converse(session, tenant.plus, date(2026, 4, 1), 6)
    converse(session, tenant.plus, date(2026, 4, 30), 3)
    converse(session, tenant.plus, date(2026, 5, 1), 2)
    session.commit()
    admin = signed_in(tenant.staff[Role.ADMIN])
    to_come = [None] * 30
    for path in ("/", "/report/month"):
        chart = chart_of(admin.get(path).text)
        assert (chart["days"][0], chart["days"][-1]) == ("2026-05-01", "2026-05-31")
        now, before = (series["values"] for series in chart["series"])
        assert now == [2, *to_come]
        assert before == [6, *[0] * 28, 3, None]
    chart = chart_of(admin.get("/usage").text)
    assert chart["days"][-1] == "2026-05-31"
    assert [series["values"] for series in chart["series"]] == [[1, *to_come], [1, *to_come]]
    past = chart_of(admin.get("/usage?start=2026-04-01&end=2026-04-30").text)
    assert past["days"][-1] == "2026-04-30"


def test_of_two_ranges_with_the_same_days_the_one_that_was_clicked_is_chosen(
    tenant_with_conversations: Tenant, signed_in: SignedIn, clock: SetClock
) -> None:
    clock.set("2026-06-30T12:00")
    browser, path, shown = signed_in(tenant_with_conversations.staff[Role.ADMIN]), "/usage", []
    for clicked in ("This month", "30 days", "This month"):
        page = browser.get(path).text
        shown.append(re.findall(r'aria-current="true">([^<]+)</a></li>', page))
        [url] = re.findall(rf'href="(/usage[^"]+)"[^>]*>{clicked}', page)
        path = unescape(url)
    shown.append(re.findall(r'aria-current="true">([^<]+)</a></li>', browser.get(path).text))
    assert shown == [["This month"], ["This month"], ["30 days"], ["This month"]]


def test_organizations_are_sorted_by_conversations_and_add_up_to_the_total(
    tenant_with_conversations: Tenant, signed_in: SignedIn
) -> None:
    file = file_of(signed_in(tenant_with_conversations.staff[Role.ADMIN]), f"/usage.csv?{RANGE}")
    assert file == [
        [
            *("Organization", "Plan", "Conversations", "With a person", "With voicemail"),
            *("Seconds", "Conversations in the previous period", "ID"),
        ],
        [
            "Northwind Dental",
            "Plus",
            "6",
            "3",
            "3",
            "360",
            "8",
            str(tenant_with_conversations.plus.id),
        ],
        [
            "Northwind Bakery",
            "Free",
            "3",
            "2",
            "1",
            "180",
            "0",
            str(tenant_with_conversations.organization.id),
        ],
    ]


def test_a_name_that_a_spreadsheet_would_run_is_guarded(
    session: Session, tenant_with_conversations: Tenant, signed_in: SignedIn
) -> None:
    tenant_with_conversations.plus.name = "=HYPERLINK(1)"
    session.commit()
    file = file_of(signed_in(tenant_with_conversations.staff[Role.ADMIN]), f"/usage.csv?{RANGE}")
    assert file[1][0] == "'=HYPERLINK(1)"


def test_screen_file_and_json_agree_exactly(
    app: Flask,
    session: Session,
    settings: Settings,
    tenant_with_conversations: Tenant,
    signed_in: SignedIn,
) -> None:
    header = bearer(session, settings, Role.PARTNER_ADMIN, tenant_with_conversations.partner.id)
    session.commit()
    browser = signed_in(tenant_with_conversations.staff[Role.PARTNER_ADMIN])
    for first, last in ((DAY, DAY), (DAY - timedelta(days=3), DAY), (DAY - timedelta(days=9), DAY)):
        asked = f"start={first}&end={last}"
        listed = {row[7]: int(row[2]) for row in file_of(browser, f"/usage.csv?{asked}")[1:]}
        days = rows_of(browser.get(f"/usage.csv?{asked}&rows=days").text)[1:]
        reported = {}
        for organization in (
            tenant_with_conversations.plus,
            tenant_with_conversations.organization,
        ):
            answer = app.test_client().get(
                f"/api/users/usage?organizationId={organization.id}"
                f"&startDate={first}&endDate={last}",
                headers=header,
            )
            reported[str(organization.id)] = answer.get_json()["usage"]["conversations"]
            own = browser.get(f"/usage.csv?{asked}&organization={organization.id}").text
            assert sum(int(row[1]) for row in rows_of(own)[1:]) == reported[str(organization.id)]
        assert listed == reported
        assert sum(int(row[1]) for row in days) == sum(reported.values())


def test_the_language_of_the_file_is_named_only_where_there_is_something_to_export(
    tenant: Tenant, session: Session, signed_in: SignedIn
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    admin.language = "fr"
    session.commit()
    page = signed_in(admin).get("/usage").text
    assert "Utilisation</h1>" in page
    assert "Le fichier CSV" not in page


def test_an_impossible_range_is_refused_with_the_message_of_the_json(
    app: Flask,
    session: Session,
    settings: Settings,
    tenant_with_conversations: Tenant,
    signed_in: SignedIn,
) -> None:
    header = bearer(session, settings, Role.PARTNER_ADMIN, tenant_with_conversations.partner.id)
    session.commit()
    browser = signed_in(tenant_with_conversations.staff[Role.ADMIN])
    for first, last in (
        ("2026-05-04", "2026-05-01"),
        ("2024-01-01", "2026-05-01"),
        ("2026-02-30", "2026-05-01"),
        ("yesterday", "2026-05-01"),
    ):
        refused = app.test_client().get(
            f"/api/users/usage?organizationId={tenant_with_conversations.plus.id}&startDate={first}&endDate={last}",
            headers=header,
        )
        [problem] = refused.get_json()["details"]["errors"]
        page = browser.get(f"/usage?start={first}&end={last}")
        assert page.status_code == 422
        assert f"day: {problem['message']}" in page.text
        at_the_field = page.text.partition('id="range-error">')[2].partition("</p>")[0]
        assert problem["message"] in at_the_field
        assert "This month is shown instead." in page.text
        assert browser.get(f"/usage.csv?start={first}&end={last}").status_code == 400


def test_one_organization_is_found_by_the_address_of_a_person(
    tenant_with_conversations: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant_with_conversations.staff[Role.ADMIN])
    found = text_of(browser.get(f"/usage?{RANGE}&q=PAUL@northwind.example").text)
    assert "Usage of Northwind Dental" in found
    assert "Usage of paul@northwind.example covers the whole organization" in found
    assert "Conversations 6 ▼ down 25.0 % from 8" in found
    no_one = text_of(browser.get(f"/usage?{RANGE}&q=nobody@northwind.example").text)
    assert "No organization or user matches" in no_one


def test_an_organization_of_another_tenant_is_answered_like_a_missing_one(
    tenant_with_conversations: Tenant, other_tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant_with_conversations.staff[Role.ADMIN])
    paths = [
        f"{page}?organization={identifier}"
        for page in ("/usage", "/usage.csv")
        for identifier in (other_tenant.plus.id, "0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01", "x")
    ]
    assert [browser.get(path).status_code for path in paths] == [404] * 6


def test_a_member_sees_their_own_organization_alone(
    tenant_with_conversations: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant_with_conversations.user)
    page = text_of(browser.get(f"/usage?{RANGE}").text)
    assert "Conversations 3 None in the previous period" in page
    assert "By organization" not in page
    days = rows_of(browser.get(f"/usage.csv?{RANGE}").text)
    assert [row[1] for row in days] == ["Conversations", "0", "0", "0", "3"]
    assert (
        browser.get(f"/usage?organization={tenant_with_conversations.plus.id}").status_code == 404
    )


def test_many_organizations_come_in_pages_with_the_others_as_one_sum(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    for number in range(30):
        user = make_user(
            session, tenant.partner.id, f"u{number}@x.example", businessName=f"Firm {number}"
        )
        converse(session, organization_of(session, user), DAY, number + 1)
    session.commit()
    browser = signed_in(tenant.staff[Role.ADMIN])
    first = browser.get(f"/usage?start={DAY}&end={DAY}").text
    names = re.findall(r'class="name" href="/usage[^"]+" dir="auto">([^<]+)', first)
    assert names == [f"Firm {number}" for number in range(29, 4, -1)]
    assert "All others 15" in text_of(first)
    found = re.search(r'href="(/usage\?[^"]*cursor=[^"]+)" rel="next"', first)
    assert found
    second = browser.get(found[1].replace("&amp;", "&")).text
    assert re.findall(r'class="name" href="/usage[^"]+" dir="auto">([^<]+)', second)[:6] == [
        *(f"Firm {number}" for number in range(4, -1, -1)),
        "Northwind Dental",
    ]
    assert "All others 450" in text_of(second)
    assert browser.get("/usage?cursor=nonsense").status_code == 400


@pytest.mark.parametrize(
    ("sort", "names"),
    [
        ("name", ["Firm A", "Firm B", "Firm C"]),
        ("-name", ["Firm C", "Firm B", "Firm A"]),
        ("conversations", ["Firm B", "Firm A", "Firm C"]),
        ("-voicemail", ["Firm A", "Firm C", "Firm B"]),
        ("nonsense", ["Firm C", "Firm A", "Firm B"]),
    ],
)
def test_organizations_are_sorted_and_filtered_on_the_page_and_in_its_file(
    session: Session, tenant: Tenant, signed_in: SignedIn, sort: str, names: list[str]
) -> None:
    figures = (("Firm B", 1, 0), ("Firm A", 2, 2), ("Firm C", 3, 1))
    for name, conversations, by_voicemail in figures:
        user = make_user(session, tenant.partner.id, f"{name[-1]}@x.example", businessName=name)
        organization = organization_of(session, user)
        converse(session, organization, DAY, conversations)
        own_days = ConversationDay.organization_id == organization.id
        session.execute(update(ConversationDay).where(own_days).values(by_voicemail=by_voicemail))
    session.commit()
    browser = signed_in(tenant.staff[Role.ADMIN])
    asked = f"start={DAY}&end={DAY}&q=firm&sort={sort}"
    page = browser.get(f"/usage?{asked}").text
    assert re.findall(r'class="name" href="/usage[^"]+" dir="auto">([^<]+)', page) == names
    file = re.search(r'href="(/lists/usage/export\.csv[^"]+)"', page)
    assert file
    assert [row[0] for row in file_of(browser, unescape(file[1]))[1:]] == names
    assert [row[0] for row in file_of(browser, f"/usage.csv?{asked}")[1:]] == names


def test_an_unused_organization_has_dashes_instead_of_zeros(
    tenant_with_conversations: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant_with_conversations.staff[Role.ADMIN])
    table = text_of(browser.get("/usage?start=2020-01-01&end=2020-01-31").text)
    assert "Northwind Dental Plus – – – – –" in table


def test_of_very_many_organizations_the_newest_come_first(
    session: Session, tenant_with_conversations: Tenant, signed_in: SignedIn
) -> None:
    session.execute(update(PartnerTier).values(organizations=2001))
    session.commit()
    page = text_of(
        signed_in(tenant_with_conversations.staff[Role.ADMIN]).get(f"/usage?{RANGE}").text
    )
    assert "More than 2,000 organizations aren’t ranked: the newest come first." in page
    table = page.partition("By organization")[2]
    assert table.index("Northwind Dental Plus 6 3 3 – −2 ▼ down 25.0 %") < table.index(
        "Northwind Bakery Free 3 2 1 – New"
    )
    assert "Total 9 5 4 – +1 ▲ up 12.5 %" in table


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (
            "2026-12-31T23:59:59.9",
            {
                "This month": ("2026-12-01", "2026-12-31"),
                "Last month": ("2026-11-01", "2026-11-30"),
                "30 days": ("2026-12-02", "2026-12-31"),
                "90 days": ("2026-10-03", "2026-12-31"),
            },
        ),
        (
            "2028-03-01T00:00",
            {
                "This month": ("2028-03-01", "2028-03-01"),
                "Last month": ("2028-02-01", "2028-02-29"),
                "30 days": ("2028-02-01", "2028-03-01"),
                "90 days": ("2027-12-03", "2028-03-01"),
            },
        ),
    ],
)
def test_the_quick_choices_are_months_and_days_up_to_today(
    clock: SetClock,
    tenant: Tenant,
    signed_in: SignedIn,
    now: str,
    expected: dict[str, tuple[str, str]],
) -> None:
    clock.set(now)
    page = signed_in(tenant.staff[Role.ADMIN]).get("/usage").text
    shown = re.findall(
        r'segment" href="/usage\?start=([\d-]+)&amp;end=([\d-]+)&amp;range=[\w-]+"[^>]*>([^<]+)',
        page,
    )
    assert {words: (start, end) for start, end, words in shown} == expected


def test_carrier_costs_by_month_and_organization_agree_with_the_file(
    session: Session, tenant_with_conversations: Tenant, other_tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant_with_conversations.staff[Role.ADMIN])
    asked = "start=2026-04-30&end=2026-05-04"
    assert "Reported carrier costs by month" not in browser.get(f"/usage?{asked}").text
    for tenant, organization, day, cost, currency in (
        (tenant_with_conversations, tenant_with_conversations.plus, DAY, "0.0135", "USD"),
        (
            tenant_with_conversations,
            tenant_with_conversations.plus,
            date(2026, 4, 30),
            "1.2",
            "USD",
        ),
        (tenant_with_conversations, tenant_with_conversations.organization, DAY, "0.25", "USD"),
        (tenant_with_conversations, tenant_with_conversations.organization, DAY, "3", "EUR"),
        (
            tenant_with_conversations,
            tenant_with_conversations.organization,
            date(2026, 4, 29),
            "7",
            "USD",
        ),
        (other_tenant, other_tenant.plus, DAY, "50", "USD"),
    ):
        rollup.add_cost(
            session,
            partner_id=tenant.partner.id,
            campaign_id=None,
            organization_id=organization.id,
            day=day,
            cost=Decimal(cost),
            currency=currency,
        )
    session.commit()
    of_month = "/usage?start=2026-05-01&end=2026-05-31"
    shown = signed_in(tenant_with_conversations.staff[Role.PARTNER_EDITOR]).get(of_month).text
    assert "Reported carrier costs by month" in shown
    assert "missing-actions" not in shown
    page = text_of(browser.get(f"/usage?{asked}").text)
    assert "May 2026 1 €3.00 May 2026 2 $0.26 April 2026 1 $1.20" in page
    assert "Month (UTC) Charged attempts Reported by carriers" in page
    assert "All months 1 €3.00 All months 3 $1.46" in page
    assert "$1.21" in page
    assert "€3.00 $0.25" in page
    assert rows_of(browser.get(f"/usage.csv?{asked}&rows=costs").text) == [
        ["Month (UTC)", "Organization", "Currency", "Charged attempts", "Cost", "Id"],
        [
            "2026-05",
            "Northwind Bakery",
            "EUR",
            "1",
            "3.00",
            str(tenant_with_conversations.organization.id),
        ],
        [
            "2026-05",
            "Northwind Bakery",
            "USD",
            "1",
            "0.25",
            str(tenant_with_conversations.organization.id),
        ],
        [
            "2026-05",
            "Northwind Dental",
            "USD",
            "1",
            "0.0135",
            str(tenant_with_conversations.plus.id),
        ],
        ["2026-04", "Northwind Dental", "USD", "1", "1.20", str(tenant_with_conversations.plus.id)],
    ]
    found = text_of(browser.get(f"/usage?{asked}&q=bakery").text)
    assert re.search(r"All others .* \$1.21 .* Total", found)
    customer = signed_in(tenant_with_conversations.user)
    assert "carrier costs" not in text_of(customer.get(f"/usage?{asked}").text)
    assert "€3.00" not in customer.get(f"/usage.csv?{asked}&rows=costs").text


def test_shown_carrier_costs_add_up_and_explain_different_rounding(
    session: Session, tenant_with_conversations: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant_with_conversations.staff[Role.ADMIN])
    asked, note = "start=2026-05-01&end=2026-05-04", "Amounts are rounded so that they add up"

    def shown(*costs: tuple[Organization, str]) -> tuple[list[str], bool]:
        for organization, cost in costs:
            rollup.add_cost(
                session,
                partner_id=tenant_with_conversations.partner.id,
                campaign_id=None,
                organization_id=organization.id,
                day=DAY,
                cost=Decimal(cost),
                currency="USD",
            )
        session.commit()
        page = browser.get(f"/usage?{asked}&column=costs").text
        table = page.partition("<h2>By organization</h2>")[2].partition("</table>")[0]
        return sorted(re.findall(r"\$[\d.]+", table)), note in page

    assert shown(
        (tenant_with_conversations.plus, "4.21"), (tenant_with_conversations.organization, "10.75")
    ) == (
        ["$10.75", "$14.96", "$4.21"],
        False,
    )
    more = [
        (tenant_with_conversations.plus, "0.0044"),
        (tenant_with_conversations.organization, "0.0043"),
    ]
    assert shown(*more) == (["$10.75", "$14.97", "$4.22"], True)
