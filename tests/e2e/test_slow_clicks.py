"""A click as slow as a person's has its effect, whatever request a field has just sent."""

import re
from typing import Any
from uuid import uuid4

from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import Open
from tests.fixtures.stack import Stack

PRESS_MS = 400
"""As long as a click that is not quick; every answer arrives within it."""


def press(page: Page, wanted: Locator) -> None:
    wanted.hover()
    page.mouse.down()
    page.wait_for_timeout(PRESS_MS)
    page.mouse.up()


def test_a_click_right_after_typing_an_organization_creates_the_campaign(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner)
    visit.sign_in(partner["users"][0], then="/campaigns/new")
    page = visit.page
    page.get_by_label("Name", exact=True).fill(f"Spring recall {uuid4().hex[:6]}")
    page.get_by_label("Organization", exact=True).press_sequentially(
        partner["organizations"][0]["name"]
    )
    press(page, page.get_by_role("button", name="Create campaign"))
    expect(page).to_have_url(re.compile(r"/outreach/plan\?new=1$"))


def test_a_click_right_after_typing_a_number_places_the_test_call(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner)
    visit.sign_in(partner["users"][0], then="/test-call")
    page = visit.page
    number = partner["organizations"][0]["simulator"]["busy"]
    with page.expect_response("**/test-call/checks"):  # from the first key: answers can be quick
        page.get_by_label("Number to call").press_sequentially(number)
        press(page, page.get_by_text("Call", exact=True).last)
    expect(page.get_by_role("heading", name="Call ended")).to_be_visible()
