"""The report: the numbers of the JSON on the screen and in the file."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from flask import Flask
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import TIER_NAMES, Role, Tier, UserStatus
from app.models import User
from app.portal.report.listing import MEMBERS
from tests.fixtures.recount import recount
from tests.fixtures.tenants import Tenant, bearer, converse, make_user
from tests.portal.conftest import Browser
from tests.portal.page_text import rows_of

SignedIn = Callable[[User], Browser]
FILE = "/lists/report/export.csv"
AS_IN_JSON = "&".join(f"column={each.name}" for each in MEMBERS.columns if each.name != "status")


@pytest.fixture
def read_report(
    app: Flask, session: Session, settings: Settings, tenant: Tenant
) -> Callable[[], Any]:
    """What the JSON says."""
    header = bearer(session, settings, Role.PARTNER_ADMIN, tenant.partner.id)
    session.commit()
    path = f"/api/partners/{tenant.partner.id}/admin-report"
    return lambda: app.test_client().get(path, headers=header).json


def emails(html: str) -> list[str]:
    shown = html.replace("<wbr>", "")
    return re.findall(r'<a class="name" href="/users/[^"]+" dir="auto">([^<]+)', shown)


def test_the_file_holds_the_numbers_of_the_json(
    session: Session,
    tenant: Tenant,
    other_tenant: Tenant,
    signed_in: SignedIn,
    read_report: Callable[[], Any],
) -> None:
    converse(session, tenant.plus, datetime.now(UTC).date(), 5)
    converse(session, other_tenant.plus, datetime.now(UTC).date(), 9)
    make_user(
        session, tenant.partner.id, "+plus@x.example", businessName="=1+1", tier=Tier.BASIC.value
    )
    session.commit()
    report = read_report()
    header, *rows = rows_of(signed_in(tenant.staff[Role.ADMIN]).get(f"{FILE}?{AS_IN_JSON}").text)
    assert header == ["Email", "Organization", "Plan", "Conversations", "Added (UTC)", "ID"]
    assert rows == [
        [
            re.sub(r"^([=+])", r"'\1", user["email"]),
            re.sub(r"^([=+])", r"'\1", user["businessName"][0]),
            TIER_NAMES[user["paymentTier"]],
            str(user["conversations"]),
            f"{datetime.fromisoformat(user['signUpDate']):%Y-%m-%d %H:%M:%S}",
            user["id"],
        ]
        for user in report["users"]
    ]
    assert len(rows) == report["userCount"] == 3


def test_the_screen_counts_by_plan_as_the_json_does(
    tenant: Tenant, signed_in: SignedIn, read_report: Callable[[], Any]
) -> None:
    page = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/report").text
    bar = r"<dd>\s*<svg.*?</svg>\s*</dd>"
    row = rf"<dt[^>]*>([^<]+)</dt>\s*{bar}\s*<dd>\s*(?:<a[^>]*>)?(\d+)[\s<]"
    shown = dict(re.findall(row, page, re.DOTALL))
    report = read_report()
    assert shown == {
        TIER_NAMES[tier]: str(count) for tier, count in report["userCountByTier"].items()
    }
    assert emails(page) == [user["email"] for user in report["users"]]


def test_the_number_of_users_links_to_as_many_owners_and_members(
    session: Session, tenant: Tenant, signed_in: SignedIn, read_report: Callable[[], Any]
) -> None:
    tenant.user.is_owner = True
    session.commit()
    browser, counted = signed_in(tenant.staff[Role.PARTNER_ADMIN]), read_report()["userCount"]
    link = re.search(r'href="(/users[^"]*)"[^>]*>(\d+)<', browser.get("/report").text)
    assert link
    users = browser.get(link[1]).text
    assert (int(link[2]), len(emails(users))) == (counted, counted)
    assert '<option value="customers" selected>Owners and members</option>' in users


def test_filters_choose_the_same_users_on_the_screen_and_in_the_file(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    tenant.user.status = UserStatus.SUSPENDED
    tenant.user.created_at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    tenant.plus_user.created_at = datetime(2026, 3, 2, 0, 0, tzinfo=UTC)
    session.commit()
    browser = signed_in(tenant.staff[Role.ADMIN])
    olga, paul = [tenant.user.email], [tenant.plus_user.email]
    for asked, expected in {
        "q=bakery": olga,
        "q=PAUL@": paul,
        "tier=customerPlusPlan": paul,
        "status=suspended": olga,
        "since=2026-03-02": paul,
        "until=2026-03-01": olga,
        "since=2026-03-01&until=2026-03-02": olga + paul,
        "sort=-created": paul + olga,
        "sort=-email": paul + olga,
        "q=nobody": [],
    }.items():
        assert emails(browser.get(f"/report?{asked}").text) == expected
        rows = rows_of(browser.get(f"{FILE}?{asked}").text)[1:]
        assert sorted(row[0] for row in rows) == sorted(expected)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("since=2026-02-30", 'href="#since">Enter a day like'),
        ("since=2026-03-02&until=2026-03-01", 'href="#until">The last day is before the first'),
    ],
)
def test_an_invalid_range_of_days_is_reported(
    tenant: Tenant, signed_in: SignedIn, asked: str, message: str
) -> None:
    browser = signed_in(tenant.staff[Role.ADMIN])
    page = browser.get(f"/report?{asked}")
    assert page.status_code == 422
    assert message in page.text
    assert browser.get(f"{FILE}?{asked}").status_code == 400


def test_sign_ups_are_counted_by_month_and_in_short_ranges_by_day(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    tenant.user.created_at = datetime(2026, 3, 31, 23, 59, 59, tzinfo=UTC)
    tenant.plus_user.created_at = datetime(2026, 4, 1, tzinfo=UTC)
    recount(session, tenant.partner.id)
    session.commit()
    browser = signed_in(tenant.staff[Role.ADMIN])

    def table(path: str) -> list[tuple[str, str]]:
        found = re.findall(
            r'<tr>\s*<td>([^<]+)</td>\s*<td class="end">(\d+)</td>\s*</tr>', browser.get(path).text
        )
        return [(words.replace("\u00a0", " "), count) for words, count in found]

    assert table("/report?since=2026-01-15&until=2026-04-02") == [
        ("April 2026", "1"),
        ("March 2026", "1"),
        ("February 2026", "0"),
        ("January 2026", "0"),
        ("Total", "2"),
    ]
    assert table("/report?since=2026-03-31&until=2026-04-02") == [
        ("2 Apr 2026", "0"),
        ("1 Apr 2026", "1"),
        ("31 Mar 2026", "1"),
        ("Total", "2"),
    ]


def test_a_role_without_the_report_finds_neither_screen_nor_file(
    tenant: Tenant, signed_in: SignedIn
) -> None:
    browser = signed_in(tenant.user)
    assert [browser.get(path).status_code for path in ("/report", FILE)] == [404, 404]
