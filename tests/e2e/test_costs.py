"""Costs before a person: the margin of a month and a customer's statement."""

from typing import Any

from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.e2e.visits import Visit
from tests.fixtures.stack import Stack

Partner = dict[str, Any]


def found_nothing(visit: Visit, script: bool) -> None:
    if script:
        assert visit.findings() == []


def test_a_statement_is_found_from_the_margin(
    shared_stack: Stack, partner: Partner, open_browser: Open, script: bool
) -> None:
    visit = open_browser(shared_stack, partner, script=script)
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


def test_a_member_sees_the_usage_of_the_plan_this_month(
    shared_stack: Stack, partner: Partner, open_browser: Open, script: bool
) -> None:
    visit = open_browser(shared_stack, partner, script=script)
    visit.sign_in(partner["organizations"][0]["users"][0])
    page = visit.page
    page.goto("/usage")
    expect(page.get_by_role("heading", name="Used this month")).to_be_visible()
    found_nothing(visit, script)
    page.get_by_role("link", name="View statement").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Statement for")
    found_nothing(visit, script)
