"""The sidebar in a window lower than its places, and tabs wider than the screen."""

from typing import Any

from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.fixtures.stack import Stack


def test_the_current_place_is_in_view(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    visit = open_browser(shared_stack, partner, script=script)
    page = visit.page
    page.set_viewport_size({"width": 1360, "height": 600 if script else 900})
    visit.sign_in(partner["users"][0], then="/audit")
    expect(page.locator(".sidebar-links [aria-current]")).to_be_in_viewport(ratio=1)
    assert page.evaluate("scrollY") == 0


def test_tabs_fade_on_a_phone_until_the_last_is_in_view(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner)
    page = visit.page
    page.set_viewport_size({"width": 390, "height": 844})
    visit.sign_in(partner["users"][0], then="/organizations")
    page.locator("td.cell-name a").first.click()
    tabs = page.locator(".tabs")
    expect(tabs).to_have_attribute("data-more", "")
    tabs.get_by_role("link").last.click()
    expect(tabs.get_by_role("link").last).to_have_attribute("aria-current", "page")
    expect(tabs).not_to_have_attribute("data-more", "")
    page.goto(page.url.replace("/activity", "/usage"))
    expect(tabs).to_have_attribute("data-more", "")
