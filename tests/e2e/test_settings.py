"""The settings of the portal: their own navigation, and saving that stays in sight."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.e2e.visits import Look, heading, sound
from tests.fixtures.stack import Stack

SHOWS_PARTS = 1100
"""The least width at which the parts of the settings are next to the form."""
PHONE = 859
"""The greatest width at which the button stays in sight only once something is changed."""


@pytest.mark.parametrize("script", [True, False], ids=["script", "without script"])
def test_each_part_has_its_save_button_in_view(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, look: Look, script: bool
) -> None:
    visit = open_browser(shared_stack, partner, script=script)
    visit.sign_in(partner["users"][0], then="/settings")
    page = visit.page
    save = page.get_by_role("button", name="Save settings")
    if look.width > PHONE:
        expect(save).to_be_in_viewport()
    field = page.get_by_label("URL parameters kept after sign-in")
    if look.width >= SHOWS_PARTS:
        link = page.locator("#content").get_by_role("link", name="Links", exact=True)
        link.click()
        expect(field).to_be_in_viewport()
        expect(save).to_be_in_viewport()
        if script:
            expect(link).to_have_attribute("aria-current", "true")
    sound(visit, script)
    field.fill("utm_source")
    if script or look.width > PHONE:
        expect(save).to_be_in_viewport()
    save.click()
    expect(page.get_by_text("Settings saved")).to_be_visible()
    expect(field).to_have_value("utm_source")


def test_the_sign_in_policy_is_refused_corrected_and_saved(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    visit = open_browser(shared_stack, partner, script=script)
    visit.sign_in(partner["users"][0], then="/settings/sign-in")
    page, save = visit.page, visit.page.get_by_role("button", name="Save sign-in settings")
    heading(page, "Sign-in")
    limit = page.get_by_label("Sign in again after")
    limit.fill("99")
    save.click()
    expect(page.get_by_role("alert").first).to_contain_text("Enter a number from 1 to 12.")
    sound(visit, script)
    for hours in ("11", ""):
        limit.fill(hours)
        save.click()
        expect(page.get_by_text("Sign-in settings saved.")).to_be_visible()
        expect(limit).to_have_value(hours)
    sound(visit, script)


def test_the_save_bar_names_unsaved_changes(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner)
    visit.sign_in(partner["users"][0], then="/settings")
    page, unsaved = visit.page, visit.page.get_by_text("Unsaved changes.")
    expect(unsaved).to_be_hidden()
    field = page.get_by_label("URL parameters kept after sign-in")
    field.fill("utm_medium")
    expect(unsaved).to_be_visible()
    page.get_by_role("button", name="Save settings").click()
    expect(page.get_by_text("Settings saved")).to_be_visible()
    expect(unsaved).to_be_hidden()
