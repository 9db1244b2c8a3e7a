"""Costs before a person: the margin of a month, a customer's statement, and a budget."""

from typing import Any

from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.e2e.visits import Visit
from tests.fixtures.stack import Stack

Partner = dict[str, Any]


def found_nothing(visit: Visit, script: bool) -> None:
    if script:
        assert visit.findings() == []


def test_a_statement_is_found_from_the_margin_and_a_budget_is_set(
    live: Stack, partner: Partner, open_browser: Open, script: bool
) -> None:
    visit = open_browser(live, partner, script=script)
    visit.sign_in(partner["users"][0])
    page, organization = visit.page, partner["organizations"][0]
    page.goto("/costs")
    expect(page.get_by_role("heading", level=1)).to_have_text("Costs and margin")
    found_nothing(visit, script)
    page.get_by_role("table").get_by_role("link", name=organization["name"]).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Costs of {organization['name']}")
    found_nothing(visit, script)
    page.get_by_role("link", name="View statement").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Statement for")
    found_nothing(visit, script)
    with page.expect_download() as file:
        page.get_by_role("link", name="Download PDF").click()
    assert file.value.path().read_bytes()[:5] == b"%PDF-"
    page.goto(f"/organizations/{organization['id']}/spending")
    page.get_by_role("link", name="Set a budget").click()
    found_nothing(visit, script)
    page.get_by_label("Budget a month").fill("250.00")
    page.get_by_role("button", name="Save budget").click()
    expect(page.get_by_text("of $250.00")).to_be_visible()
    page.get_by_role("link", name="Change budget").click()
    page.get_by_label("Budget a month").fill("")
    page.get_by_role("button", name="Save budget").click()
    expect(page.get_by_role("link", name="Set a budget")).to_be_visible()


def test_a_member_sees_what_is_used_of_the_plan_this_month(
    live: Stack, partner: Partner, open_browser: Open, script: bool
) -> None:
    visit = open_browser(live, partner, script=script)
    visit.sign_in(partner["organizations"][0]["users"][0])
    page = visit.page
    page.goto("/usage")
    expect(page.get_by_role("heading", name="Used this month")).to_be_visible()
    found_nothing(visit, script)
    page.get_by_role("link", name="View statement").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Statement for")
    found_nothing(visit, script)
