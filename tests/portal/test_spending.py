"""Spending on screen: limits of an organization, a key and a partner, and the call rates."""

import io
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from html import unescape

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import SpendingLimit, SpendingTotal, User, utcnow
from app.services import organizations, pauses, spending
from app.services.credentials import api_keys
from app.services.spending import LimitSubject, SpendingLimits, rates
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]

DOLLAR = 1_000_000
BLANK = {"day_money": "", "month_money": "", "day_minutes": "", "month_minutes": ""}


def used(session: Session, tenant: Tenant, scope: str, micros: int, reserved: int = 0) -> None:
    """Money that a scope has used today and this month."""
    day = utcnow().date().isoformat()
    is_partner = scope.startswith("partner:")
    for period in (day, day[:7]):
        session.add(
            SpendingTotal(
                scope=scope,
                period=period,
                partner_id=tenant.partner.id,
                organization_id=None if is_partner else tenant.organization.id,
                spent_micros=micros,
                reserved_micros=reserved,
                reserved_seconds=3600 if reserved else 0,
            )
        )
    session.commit()


def bars(page: str) -> list[tuple[str, str]]:
    """The limits of a page: what is used in words, and the tone of the bar."""
    found = re.findall(
        r'<p class="limit-head"><span>[^<]*</span><span>([^<]*)</span></p>\s*'
        r'(?:<svg class="bar(?: bar-(\w+))?")?',
        page,
    )
    return [(unescape(words).replace("\N{NO-BREAK SPACE}", " "), tone) for words, tone in found]


def test_a_partner_admin_sets_the_limits_of_an_organization(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    path = f"/organizations/{tenant.organization.id}/spending"
    typed = BLANK | {"day_money": "20", "month_minutes": "600", "waits": "y", "version": "0"}
    typed["is_watched"] = "y"
    answer = admin.post(path, typed, page=path)
    assert (answer.status_code, answer.location) == (303, path)
    session.expire_all()
    found = spending.spending_of(
        session, OPERATOR, LimitSubject(organization_id=tenant.organization.id)
    )
    assert found.limits == SpendingLimits(day_micros=20 * DOLLAR, month_minutes=600, waits=True)
    assert bars(admin.get(path).text) == [
        ("$0.00 of $20.00", ""),
        ("0, no limit", ""),
        ("$0.00, no limit", ""),
        ("0 of 600", ""),
    ]


def test_a_limit_of_a_day_above_that_of_the_month_is_saved_with_a_hint(
    tenant: Tenant, admin: Browser
) -> None:
    path, hint = f"/organizations/{tenant.organization.id}/spending", "this limit can’t be reached"
    for version, (kind, day, month, hints) in enumerate(
        (
            ("money", "20", "30", 0),
            ("money", "30.5", "30", 1),
            ("minutes", "60", "60", 0),
            ("minutes", "61", "60", 1),
            ("minutes", "61", "", 0),
        )
    ):
        typed = {f"day_{kind}": day, f"month_{kind}": month, "version": str(version)}
        assert admin.post(path, BLANK | typed, page=path).status_code == 303
        assert (kind, day, admin.get(path).text.count(hint)) == (kind, day, hints)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"day_money": "12,50"}, "Spending limit, a day: Use a point for decimals: 12.50."),
        (
            {"month_money": "-1"},
            "Spending limit, a month: An amount can’t be negative. Enter an amount like 12.50.",
        ),
        ({"month_money": "-x"}, "Spending limit, a month: Enter an amount like 12.50."),
        ({"day_minutes": "many"}, "Call minutes, a day: Enter a whole number in digits."),
        (
            {"month_minutes": "-5"},
            "Call minutes, a month: Enter an amount from 0 to 1,000,000,000.",
        ),
    ],
)
def test_a_wrong_amount_is_refused_at_its_field(
    tenant: Tenant, admin: Browser, typed: dict[str, str], words: str
) -> None:
    path = f"/organizations/{tenant.organization.id}/spending"
    answer = admin.post(path, BLANK | typed | {"version": "0"}, page=path)
    assert answer.status_code == 422
    assert words in answer.text


@pytest.mark.parametrize(
    ("micros", "reserved", "tone"),
    [
        (15 * DOLLAR, 0, ""),
        (15 * DOLLAR, DOLLAR, "warning"),
        (16 * DOLLAR, 0, "warning"),
        (19 * DOLLAR, DOLLAR, "danger"),
        (21 * DOLLAR, 0, "danger"),
    ],
)
def test_the_bar_of_a_limit_turns_amber_at_80_percent_and_red_at_100(
    session: Session, tenant: Tenant, admin: Browser, micros: int, reserved: int, tone: str
) -> None:
    subject = LimitSubject(organization_id=tenant.organization.id)
    spending.change(session, OPERATOR, subject, SpendingLimits(day_micros=20 * DOLLAR))
    used(session, tenant, f"organization:{tenant.organization.id}", micros, reserved)
    page = admin.get(f"/organizations/{tenant.organization.id}/spending").text
    assert bars(page)[0][1] == tone
    assert ("The limit is reached." in page) is (tone == "danger")


def test_reserved_minutes_say_what_they_cost(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    path = f"/organizations/{tenant.organization.id}/spending"
    used(session, tenant, f"organization:{tenant.organization.id}", DOLLAR, 2 * DOLLAR)
    page = admin.get(path).text
    assert "And 60 minutes reserved for calls in progress, at most $2.00." in page


def test_the_form_says_what_a_call_reserves_at_the_cheapest_and_the_dearest_rate(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    path = f"/organizations/{tenant.organization.id}/spending"
    before = "Before a call is placed, the price of 60 minutes is reserved: "
    assert f"{before}$1.80 to $60.00, depending on the number." in admin.get(path).text
    one = "prefix,price_per_minute,setup_price,minimum_seconds,increment_seconds,currency\n"
    rates.replace(session, OPERATOR, f"{one}default,0.05,0.10,60,60,USD\n".encode())
    session.commit()
    assert f"{before}$3.10. What" in admin.get(path).text


@pytest.mark.parametrize("role", [Role.PARTNER_EDITOR, Role.ADMIN])
def test_other_roles_see_the_spending_of_an_organization_without_the_form(
    tenant: Tenant, signed_in: SignedIn, role: Role
) -> None:
    browser = signed_in(tenant.staff[role])
    path = f"/organizations/{tenant.organization.id}/spending"
    page = browser.get(path)
    assert page.status_code == 200
    assert "Save limits" not in page.text
    assert browser.post(path, BLANK, page="/").status_code == 404


def test_the_limits_of_a_key_are_on_its_page(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    organization_id = tenant.organization.id
    key = api_keys.create(session, caller, organization_id=organization_id, name="Scripts").key
    session.commit()
    page = f"/api-access/keys/{key.id}"
    path = f"{page}/spending"
    answer = admin.post(path, BLANK | {"day_money": "5", "version": "0"}, page=path)
    assert (answer.status_code, answer.location) == (303, page)
    used(session, tenant, f"key:{key.id}", 4_500_000)
    assert bars(admin.get(page).text) == [("$4.50 of $5.00", "warning"), ("0, no limit", "")]


def test_the_operator_limits_a_partner_which_sees_it(
    session: Session, tenant: Tenant, operator: Browser, admin: Browser
) -> None:
    path = f"/operator/spending/{tenant.partner.id}"
    assert f'href="{path}"' in operator.get("/operator/spending").text
    answer = operator.post(path, BLANK | {"month_money": "1000", "version": "0"}, page=path)
    assert (answer.status_code, answer.location) == (303, "/operator/spending")
    used(session, tenant, f"partner:{tenant.partner.id}", 12_340_000)
    page = admin.get("/settings/spending").text
    assert bars(page) == [
        ("$12.34, no limit", ""),
        ("0, no limit", ""),
        ("$12.34 of $1,000.00", ""),
        ("0, no limit", ""),
    ]
    assert "Save limits" not in page
    listed = unescape(operator.get("/operator/spending").text).replace("\N{NO-BREAK SPACE}", " ")
    assert "$12.34 of $1,000.00" in listed
    assert admin.get(path).status_code == 404


def test_the_operator_reviews_a_file_of_call_rates_replaces_them_and_downloads_them(
    session: Session, operator: Browser
) -> None:
    content = (
        "prefix,price_per_minute,setup_price,minimum_seconds,increment_seconds,currency\n"
        "default,0.75,0.10,60,60,EUR\n49,0.02,0.00,1,1,EUR\n"
    )
    path = "/operator/spending/rates"

    def send(text: str) -> tuple[int, str]:
        file = (io.BytesIO(text.encode()), "rates.csv")
        answer = operator.post(path, {"file": file}, page="/operator/spending")
        return answer.status_code, unescape(answer.text)

    status, page = send(content + "+44,x,0,60,60,EUR\n")
    assert status == 422
    assert "Row 4: prefix must be digits" in page
    assert "Row 4: price_per" in page
    status, page = send(content)
    assert status == 200
    assert re.findall(r"<li>(\d+ rates? .*?)</li>", page) == [
        "2 rates change",
        "179 rates are removed: the rates of shorter prefixes apply",
    ]
    assert "The first 20 of 181" in page
    rows = re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
    assert " ".join(re.sub("<[^>]*>", " ", rows[1]).split()) == (
        "default $1.00 60 s minimum, 60 s steps €0.75 €0.10 setup, 60 s minimum, 60 s steps"
    )
    assert not rates.are_imported(session)
    text = re.search(r'name="text" value="([^"]*)"', page)
    assert text
    answer = operator.post(path, {"text": text[1].replace("\n", "\r\n")}, page="/operator/spending")
    assert (answer.status_code, answer.location) == (303, "/operator/spending")
    assert operator.get("/operator/spending/rates.csv").text == content
    assert "2 rates in EUR, from your file" in operator.get("/operator/spending").text
    assert operator.post(path, {}, page="/operator/spending").status_code == 422
    assert operator.post(path, {"text": "x"}, page="/operator/spending").status_code == 422


def test_the_spending_of_another_partner_is_not_found(
    session: Session, other_tenant: Tenant, admin: Browser
) -> None:
    path = f"/organizations/{other_tenant.organization.id}/spending"
    assert admin.get(path).status_code == 404
    assert admin.post(path, BLANK | {"day_money": "1", "version": "0"}, page="/").status_code == 404
    assert session.scalars(select(SpendingLimit)).all() == []


@pytest.mark.parametrize(
    ("micros", "words"),
    [
        (15 * DOLLAR, None),
        (16 * DOLLAR, "A spending limit is nearly used."),
        (20 * DOLLAR, "A spending limit is reached: calls are refused or wait."),
    ],
)
def test_overview_and_spending_name_a_limit_that_is_nearly_used_or_reached(
    session: Session,
    tenant: Tenant,
    other_tenant: Tenant,
    admin: Browser,
    micros: int,
    words: str | None,
) -> None:
    for each in (tenant, other_tenant):
        subject = LimitSubject(organization_id=each.organization.id)
        spending.change(
            session, OPERATOR, subject, SpendingLimits(day_micros=20 * DOLLAR, month_minutes=9)
        )
        used(session, each, f"organization:{each.organization.id}", micros)
    link = f'href="/organizations/{tenant.organization.id}/spending"'
    for path, place in (("/", "<h1"), ("/settings/spending", "Organizations near a limit")):
        page = admin.get(path).text.partition(place)[2]
        message = [each for each in ("nearly used.", "is reached: calls") if each in page]
        assert (link in page, message) == (
            words is not None,
            [each for each in ("nearly used.", "is reached: calls") if words and each in words],
        )


def test_the_reached_limit_of_an_archived_organization_is_not_named(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    subject = LimitSubject(organization_id=tenant.organization.id)
    spending.change(session, OPERATOR, subject, SpendingLimits(day_micros=DOLLAR))
    used(session, tenant, f"organization:{tenant.organization.id}", DOLLAR)
    paths, words = ("/", "/settings/spending"), "calls are refused or wait"
    assert [words in admin.get(path).text for path in paths] == [True, True]
    organizations.archive(session, OPERATOR, tenant.organization.id)
    session.commit()
    assert [words in admin.get(path).text for path in paths] == [False, False]


def test_the_portals_limit_is_named_to_partner_admins_only(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    spending.change(
        session, OPERATOR, LimitSubject(partner_id=tenant.partner.id), SpendingLimits(day_micros=1)
    )
    used(session, tenant, f"partner:{tenant.partner.id}", 1)
    pages = {role: signed_in(user).get("/").text for role, user in tenant.staff.items()}
    named = {role for role, page in pages.items() if 'href="/settings/spending"' in page}
    assert named == {Role.PARTNER_ADMIN}


def test_a_partner_admin_resumes_the_calling_of_an_organization(
    session: Session, tenant: Tenant, signed_in: SignedIn, admin: Browser
) -> None:
    scope = pauses.PauseScope(partner_id=tenant.partner.id, organization_id=tenant.organization.id)
    pauses.pause(session, OPERATOR, scope, "Unusual calls: 60 calls in an hour.")
    session.commit()
    path = f"/organizations/{tenant.organization.id}"
    assert f"Calling is paused for {tenant.organization.name}" in admin.get("/").text
    editor = signed_in(tenant.staff[Role.PARTNER_EDITOR]).get(path).text
    assert "Calling is paused" in editor
    assert "Resume calling" not in editor
    page = admin.get(path).text
    assert "Unusual calls: 60 calls in an hour. New calls have been waiting since" in page
    answer = admin.post(f"{path}/resume-calling", page=path)
    assert (answer.status_code, answer.location) == (303, path)
    shown = admin.get(path).text
    assert "Calling resumed." in shown
    assert "Calling is paused" not in shown


def test_the_operator_sees_no_banner_for_the_pause_of_one_organization(
    session: Session, tenant: Tenant, operator: Browser
) -> None:
    scope = pauses.PauseScope(partner_id=tenant.partner.id, organization_id=tenant.organization.id)
    pauses.pause(session, OPERATOR, scope, "Unusual calls.")
    session.commit()
    assert "Calling is paused" not in operator.get("/").text
    assert "Resume calling" in operator.get(f"/organizations/{tenant.organization.id}").text


def test_spending_says_what_it_counts_and_links_to_the_costs(
    tenant: Tenant, admin: Browser, signed_in: SignedIn
) -> None:
    words = "Simulated calls of scripts and campaigns count at the call rates"
    path = f"/organizations/{tenant.organization.id}/spending"
    editor = signed_in(tenant.staff[Role.PARTNER_EDITOR])
    costs, all_costs = f'href="/costs/{tenant.organization.id}"', 'href="/costs">View'
    for browser, shown, links in (
        (admin, path, [costs]),
        (admin, "/settings/spending", [all_costs]),
        (editor, path, []),
    ):
        page = browser.get(shown).text
        assert words in page
        assert [link for link in (costs, all_costs) if link in page] == links


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("of", ["organization", "partner", "operator"])
def test_the_pages_about_spending_forecast_the_end_of_the_month(
    session: Session, tenant: Tenant, admin: Browser, operator: Browser, of: str
) -> None:
    browser, path = {
        "organization": (admin, f"/organizations/{tenant.organization.id}/spending"),
        "partner": (admin, "/settings/spending"),
        "operator": (operator, "/operator/spending"),
    }[of]
    assert "this month, by" not in browser.get(path).text
    one = tenant.organization.id if of == "organization" else None
    scope = f"organization:{one}" if one else f"partner:{tenant.partner.id}"
    days = [(utcnow().date() - timedelta(days=age)).isoformat() for age in range(1, 29)]
    for period, micros in [*((day, 10 * DOLLAR) for day in days), ("2026-10", 140 * DOLLAR)]:
        session.add(
            SpendingTotal(
                scope=scope,
                period=period,
                partner_id=tenant.partner.id,
                organization_id=one,
                spent_micros=micros,
            )
        )
    session.commit()
    words = "About $310.00 this month, by 31 Oct 2026 (likely $310.00–\N{WORD JOINER}$310.00)."
    shown = unescape(browser.get(path).text).replace("\N{NO-BREAK SPACE}", " ")
    assert re.findall(r"About.*this month[^<]*", shown) == [words]


def test_the_portals_spending_lists_its_organizations_by_amount(
    session: Session, tenant: Tenant, other_tenant: Tenant, admin: Browser
) -> None:
    assert "By organization" not in admin.get("/settings/spending").text
    used(session, tenant, f"partner:{tenant.partner.id}", 50 * DOLLAR)
    used(session, tenant, f"organization:{tenant.organization.id}", 10 * DOLLAR)
    used(session, tenant, f"key:{tenant.organization.id}", 10 * DOLLAR)
    used(
        session,
        replace(tenant, organization=tenant.plus),
        f"organization:{tenant.plus.id}",
        30 * DOLLAR,
    )
    used(session, other_tenant, f"organization:{other_tenant.organization.id}", 40 * DOLLAR)
    table = admin.get("/settings/spending").text.partition("By organization")[2]
    rows = re.findall(r"<tr>(.*?)</tr>", table.partition("</table>")[0], re.DOTALL)[1:]
    shown = [" ".join(re.sub("<[^>]*>", " ", unescape(row)).split()) for row in rows]
    assert shown == [
        f"{tenant.plus.name} 0 min $30.00 60.0 % 0",
        f"{tenant.organization.name} 0 min $10.00 20.0 % 0",
        "All others $10.00 20.0 %",
        "Total 0 min $50.00 0",
    ]
    assert f'href="/organizations/{tenant.plus.id}/spending"' in rows[0]


def test_spending_that_is_rounded_otherwise_to_add_up_is_explained(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    note = "Amounts are rounded so that they add up"
    assert note not in admin.get("/settings/spending").text
    amounts = {tenant.organization: 4_814_400, tenant.plus: 804_300}
    for organization, micros in amounts.items():
        scope = f"organization:{organization.id}"
        used(session, replace(tenant, organization=organization), scope, micros)
    used(session, tenant, f"partner:{tenant.partner.id}", sum(amounts.values()))
    page = admin.get("/settings/spending").text
    assert "$4.82" in page
    assert "$0.80" in page
    assert "$5.62" in page
    assert note in page
