"""Figures before a person: the first page, usage of a range, the report as a file, the history, and
finding things from anywhere."""

import csv
import io
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.e2e.conftest import Open
from tests.e2e.scripts import ask, token_of
from tests.e2e.test_signing_in import person_of
from tests.e2e.visits import Look, Visit
from tests.fixtures.stack import Stack
from tests.fixtures.worker import wait_until

Partner = dict[str, Any]


@pytest.fixture
def admin(shared_stack: Stack, partner: Partner, open_browser: Open, script: bool) -> Visit:
    visit = open_browser(shared_stack, partner, script=script)
    visit.sign_in(partner["users"][0])
    expect(visit.page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    return visit


@pytest.mark.parametrize("role", ["partnerAdmin", "admin", "standard"])
def test_the_first_page_leads_to_what_needs_a_decision(
    shared_stack: Stack, partner: Partner, open_browser: Open, script: bool, role: str
) -> None:
    organization = partner["organizations"][0]
    request: dict[str, Any] = {"agentId": organization["agents"][0]["id"]}
    request |= {"contact": {"phoneNumber": organization["simulator"]["busy"]}}
    placed = ask(
        shared_stack, "POST", "/api/v1/outbound/call", body=request, key=organization["apiKey"]
    )
    path = f"/api/v1/outbound/calls/{placed['callId']}"
    wait_until(
        lambda: ask(shared_stack, "GET", path, key=organization["apiKey"])["status"] == "busy"
    )
    visit = open_browser(shared_stack, partner, script=script)
    visit.sign_in(person_of(partner, role))
    page = visit.page
    section = page.locator("section", has=page.get_by_role("heading", name="Needs attention"))
    expect(section.get_by_role("listitem").first).to_be_visible()
    if script:
        assert visit.findings() == []
    link = section.get_by_role("link").first
    wanted = link.get_attribute("href")
    link.click()
    expect(page).to_have_url(f"{shared_stack.base_url}{wanted}")
    expect(page.get_by_role("heading", level=1)).to_have_count(1)


def coloured(canvas: Locator) -> tuple[float, float]:
    """Where the leftmost and the rightmost coloured pixel are, as parts of the width."""
    expect(canvas).to_have_count(1)
    found: tuple[float, float] = canvas.evaluate(
        """canvas => {
            const { width, height } = canvas;
            const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
            const found = [];
            for (let at = 0; at < data.length; at += 4) {
                const pixel = data.slice(at, at + 3);
                if (data[at + 3] > 128 && Math.max(...pixel) - Math.min(...pixel) > 40)
                    found.push(((at / 4) % width) / width);
            }
            return [Math.min(...found), Math.max(...found)];
        }"""
    )
    return found


def changing_chart(change: Callable[[dict[str, Any]], None]) -> Callable[[Route], None]:
    """Answer with the page after a change of its chart's data."""

    def answer(route: Route) -> None:
        response = route.fetch()

        def changed(found: re.Match[str]) -> str:
            data = json.loads(found[2])
            change(data)
            return found[1] + json.dumps(data)

        chart = r'(data-chart=.*?<script type="application/json">)(.*?)(?=</script>)'
        body, count = re.subn(chart, changed, response.text(), flags=re.DOTALL)
        assert count == 1
        route.fulfill(response=response, body=body)

    return answer


def as_on_the_first_day(data: dict[str, Any]) -> None:
    to_come = len(data["days"]) - 1
    data["series"][0]["values"] = [1, *[None] * to_come]
    data["series"][1]["values"] = [6, *[0] * to_come]


def as_of_one_day(data: dict[str, Any]) -> None:
    data["days"] = data["days"][:1]
    for series in data["series"]:
        series["values"] = [1]


def test_a_chart_of_the_first_day_of_a_month_is_drawn(
    shared_stack: Stack, partner: Partner, open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner, script=True)
    visit.sign_in(partner["users"][0])
    visit.page.route(f"{shared_stack.base_url}/", changing_chart(as_on_the_first_day))
    visit.page.goto("/")
    left, right = coloured(visit.page.locator('[data-chart="line"] canvas'))
    assert left < right < 0.15


def test_the_bar_of_a_single_day_stands_in_the_middle(
    shared_stack: Stack, partner: Partner, open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner, script=True)
    visit.sign_in(partner["users"][0])
    visit.page.route(f"{shared_stack.base_url}/usage", changing_chart(as_of_one_day))
    visit.page.goto("/usage")
    left, right = coloured(visit.page.locator('[data-chart="bars"] canvas'))
    assert 0.4 < left < right < 0.6


def test_a_range_of_usage_is_chosen_and_compared(
    admin: Visit, shared_stack: Stack, script: bool
) -> None:
    page = admin.page
    today = datetime.now(UTC).date()
    page.goto("/usage")
    page.get_by_label("First day").fill(str(today))
    page.get_by_label("Last day").fill(str(today - timedelta(days=3)))
    page.get_by_role("search", name="Range").get_by_role("button", name="Show").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The last day is before the first day. Swap them.")
    last_month = page.get_by_role("link", name="Last month")
    shown = f"{shared_stack.base_url}{last_month.get_attribute('href')}"
    last_month.click()
    expect(page).to_have_url(shown)
    expect(page.get_by_text("Compared with")).to_be_visible()
    page.locator("td.cell-name").get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Usage of")
    page.go_back()
    expect(page).to_have_url(shown)
    if script:
        assert admin.findings() == []
    page.emulate_media(media="print")
    expect(page.locator(".list-actions")).to_be_hidden()
    total = page.get_by_role("table").last.locator("tfoot")
    expect(total).to_have_css("display", "table-row-group")  # else it ends every sheet of paper


def test_organizations_are_filtered_and_sorted_without_leaving_the_page(
    admin: Visit, shared_stack: Stack, script: bool
) -> None:
    page = admin.page
    page.goto("/usage")
    page.get_by_role("link", name="Last month").click()
    filters = page.get_by_role("search", name="Filters")
    plan = filters.get_by_label("Plan")
    plan.scroll_into_view_if_needed()
    plan.select_option("Plus")
    if not script:
        filters.get_by_role("button", name="Show").click()
    clear = filters.get_by_role("link", name="Clear filters")
    expect(page.get_by_text("All others")).to_be_visible()
    if script:
        expect(plan).to_be_in_viewport()  # not the chart above the list
    if page.evaluate("innerWidth") > 1100:  # a phone shows no heads
        page.get_by_role("columnheader", name="Organization").get_by_role("link").click()
        expect(page).to_have_url(re.compile("/usage.*tier=.*&start=.*&sort=name"))
    if script:
        expect(plan).to_be_in_viewport()
        assert admin.findings() == []
    clear.click()
    expect(page.get_by_text("All others")).to_have_count(0)
    expect(page).to_have_url(re.compile("/usage\\?start="))


def test_the_file_of_the_report_agrees_with_the_json(
    admin: Visit, shared_stack: Stack, partner: Partner, tmp_path: Path
) -> None:
    page = admin.page
    page.goto("/report")
    page.get_by_role("button", name="Export", exact=True).click()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="CSV", exact=True).click()
    saved = tmp_path / "report.csv"
    waiting.value.save_as(saved)
    rows = list(csv.DictReader(io.StringIO(saved.read_text(encoding="utf-8-sig"))))
    token = token_of(shared_stack, partner["client"])
    reported = ask(shared_stack, "GET", f"/api/partners/{partner['id']}/admin-report", token=token)
    assert [(row["Email"], int(row["Conversations"])) for row in rows] == [
        (user["email"], user["conversations"]) for user in reported["users"]
    ]


def test_the_history_is_filtered(admin: Visit, shared_stack: Stack, script: bool) -> None:
    page = admin.page
    page.goto("/audit")
    page.get_by_label("Kind").select_option("organization")
    if not script:
        page.get_by_role("button", name="Show", exact=True).click()
    expect(page.get_by_role("link", name="Clear filters")).to_be_visible()
    first = page.locator("tbody td.what").first.get_by_role("link").first
    expect(first).to_have_attribute("href", re.compile("^/organizations/"))
    expect(page.locator("td.what", has_text="Signed in")).to_have_count(0)
    if script:
        assert admin.findings() == []
    page.go_back()
    expect(page.get_by_label("Kind")).to_have_value("")
    page.go_forward()
    expect(page.get_by_label("Kind")).to_have_value("organization")
    page.emulate_media(media="print")
    expect(page.get_by_label("Kind")).to_be_visible()
    expect(page.get_by_label("User, client or key")).to_be_hidden()


def test_the_search_works_by_keyboard_and_on_its_own_page(
    admin: Visit, shared_stack: Stack, partner: Partner, look: Look, script: bool
) -> None:
    page = admin.page
    organization = partner["organizations"][0]
    words = organization["name"].split()[0]
    shown = f"{shared_stack.base_url}/organizations/{organization['id']}"
    if look.width < 860:
        page.get_by_role("link", name="Find", exact=True).click()
        page.get_by_label("Name, email, number or ID").fill(words)
        page.get_by_role("button", name="Find").click()
        page.get_by_role("link", name=organization["name"], exact=True).click()
    elif script:
        page.keyboard.press("/")
        page.keyboard.type(words)
        found = page.locator("#search-list").get_by_role("link")
        expect(found.first).to_be_visible()
        page.keyboard.press("Escape")
        expect(found).to_have_count(0)
        page.keyboard.press("Control+k")
        page.keyboard.type(words)
        expect(found.first).to_be_visible()
        assert admin.findings() == []
        page.keyboard.press("ArrowDown")
        expect(found.first).to_be_focused()
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
    else:
        field = page.get_by_placeholder("Find by name; contacts by full number or email")
        field.fill(words)
        field.press("Enter")
        expect(page.get_by_role("heading", level=1, name="Find")).to_be_visible()
        page.get_by_role("link", name=organization["name"], exact=True).click()
    expect(page).to_have_url(shown)
