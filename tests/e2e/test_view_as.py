"""The operator sees a portal as one of its users; a user reads why something is refused."""

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Open, OwnStacks
from tests.e2e.test_operator_console import heading, sound
from tests.e2e.visits import Look
from tests.fixtures.stack import Stack


@pytest.fixture
def stack(own_stacks: OwnStacks, backend: str) -> Stack:
    return own_stacks(backend, {})


def test_the_operator_sees_a_portal_as_a_user_and_stops(
    stack: Stack, look: Look, open_browser: Open, script: bool
) -> None:
    partner = stack.demo["partners"][look.brand]
    user = partner["users"][0]
    visit = open_browser(stack, partner, script=script)
    page, main = visit.page, visit.page.locator("main")
    visit.slug = ""
    visit.sign_in(stack.demo["operator"], then=f"/people/{user['id']}")
    page.get_by_role("link", name="View as user…").click()
    heading(page, "View the portal as")
    page.get_by_role("button", name="View as user").click()
    expect(main).to_contain_text("Enter a reason")
    sound(visit, script)
    page.get_by_label("Reason").fill("Request 4711")
    page.get_by_role("button", name="View as user").click()
    heading(page, "Overview")
    expect(main).to_contain_text("Nothing can be changed.")
    sound(visit, script)
    page.goto(f"/people/{user['id']}/edit")
    page.get_by_role("button", name="Save user").click()
    heading(page, "Read only")
    sound(visit, script)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("link", name="View as user…")).to_be_visible()
    expect(main).not_to_contain_text("Nothing can be changed.")


def test_a_refused_page_leads_to_its_explanation(
    stack: Stack, look: Look, open_browser: Open, script: bool
) -> None:
    partner = stack.demo["partners"][look.brand]
    visit = open_browser(stack, partner, script=script)
    visit.sign_in(partner["organizations"][0]["users"][0])
    visit.page.goto("/branding")
    sound(visit, script)
    visit.page.get_by_role("link", name="Why can’t I open this?").click()
    heading(visit.page, "Check access")
    expect(visit.page.locator("main")).to_contain_text("doesn’t allow it")
    sound(visit, script)
    visit.page.get_by_role("link", name="See campaigns").click()
    expect(visit.page.locator("main")).to_contain_text("allows it")
