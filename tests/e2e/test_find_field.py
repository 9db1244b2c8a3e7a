"""The find field of the top bar has room for its words and opens what it finds; without room
Ctrl + K opens its page."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.chromium import HEIGHT
from tests.e2e.conftest import Open
from tests.fixtures.stack import Stack

FOUR_LONG_LINKS = """
() => {
  const links = document.querySelector(".top-links");
  const words = "Appointments and orders";
  links.innerHTML = `<li><a href="/">${words}</a></li>`.repeat(4);
}
"""


@pytest.mark.parametrize("width", [900, 1100, 1360])
def test_the_find_field_is_not_cut_off_beside_the_partners_links(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, width: int
) -> None:
    visit = open_browser(shared_stack, partner)
    visit.sign_in(partner["users"][0], then="/organizations")
    visit.page.set_viewport_size({"width": width, "height": HEIGHT})
    visit.page.locator(".top-links").wait_for()
    visit.page.evaluate(FOUR_LONG_LINKS)
    assert visit.layout() == []


def test_control_k_opens_the_search_page_where_the_field_has_no_room(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner)
    visit.sign_in(partner["users"][0], then="/organizations")
    visit.page.wait_for_url("**/organizations")
    visit.page.set_viewport_size({"width": 390, "height": HEIGHT})
    visit.page.keyboard.press("Control+k")
    visit.page.wait_for_url("**/search")
    field = visit.page.get_by_placeholder("Name, email, number or ID")
    expect(field).to_be_focused()
    expect(visit.page.get_by_text("Type at least two letters")).to_be_visible()
    field.press_sequentially("readab")
    expect(visit.page.get_by_role("link", name="Readability")).to_be_visible()
    expect(visit.page.get_by_text("Type at least two letters")).to_have_count(0)
    expect(field).to_be_focused()
    assert visit.problems == []


def test_enter_opens_the_first_match(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner)
    visit.sign_in(partner["users"][0], then="/organizations")
    visit.page.wait_for_url("**/organizations")
    visit.page.set_viewport_size({"width": 1360, "height": HEIGHT})
    field = visit.page.get_by_role("searchbox", name="Find")
    field.fill("sign-in policy")
    first = visit.page.locator('[data-query="sign-in policy"] a').first
    wanted = first.get_attribute("href")
    field.press("Enter")
    visit.page.wait_for_url(f"**{wanted}")
    assert visit.problems == []
