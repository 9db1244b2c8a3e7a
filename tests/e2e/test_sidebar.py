"""The sidebar in a window that is lower than its places."""

from typing import Any

from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.fixtures.stack import Stack


def test_the_open_place_is_in_view(
    live: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    visit = open_browser(live, partner, script=script)
    page = visit.page
    page.set_viewport_size({"width": 1360, "height": 600 if script else 900})
    visit.sign_in(partner["users"][0], then="/audit")
    expect(page.locator(".sidebar-places [aria-current]")).to_be_in_viewport(ratio=1)
    assert page.evaluate("scrollY") == 0
