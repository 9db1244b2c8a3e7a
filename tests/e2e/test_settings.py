"""The settings of the portal: their own navigation, and saving that stays in sight."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.fixtures.stack import Stack


@pytest.mark.parametrize("script", [True, False], ids=["script", "without script"])
def test_a_part_is_found_and_saved_without_scrolling(
    live: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    visit = open_browser(live, partner, script=script)
    visit.sign_in(partner["users"][0], then="/settings")
    page = visit.page
    save = page.get_by_role("button", name="Save settings")
    expect(save).to_be_in_viewport()
    link = page.locator("#content").get_by_role("link", name="Links", exact=True)
    link.click()
    field = page.get_by_label("URL parameters kept after sign-in")
    expect(field).to_be_in_viewport()
    expect(save).to_be_in_viewport()
    if script:
        expect(link).to_have_attribute("aria-current", "true")
        assert visit.findings() == []
    field.fill("utm_source")
    save.click()
    expect(page.get_by_text("Settings saved")).to_be_visible()
    expect(field).to_have_value("utm_source")
