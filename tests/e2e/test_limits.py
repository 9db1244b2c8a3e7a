"""Limits in the browser: trial mode, spending, phone numbers and storage, at both widths."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.chromium import HEIGHT
from tests.e2e.conftest import OwnStacks
from tests.e2e.visits import Look, Visit, heading, sound
from tests.fixtures.stack import Stack

WIDTHS = (1360, 390)


@pytest.fixture
def stack(own_stacks: OwnStacks, backend: str) -> Stack:
    """A stack of these journeys alone: they lower limits and move numbers."""
    return own_stacks(backend, {})


def sound_at_both_widths(visit: Visit, look: Look, script: bool) -> None:
    for width in WIDTHS:
        visit.page.set_viewport_size({"width": width, "height": HEIGHT})
        sound(visit, script)
    visit.page.set_viewport_size({"width": look.width, "height": HEIGHT})


def add_organization(page: Page, name: str, look: Look, script: bool) -> str:
    """One of this journey alone; returns its name."""
    name = f"{name} {look} {'with' if script else 'without'} script"
    page.goto("/organizations/new")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Add organization").click()
    heading(page, name)
    return name


def test_a_new_organization_is_in_trial_mode_until_a_partner_admin_ends_it(
    visit: Visit, look: Look, script: bool
) -> None:
    page = visit.page
    name = add_organization(page, "Kew Dental", look, script)
    trial = page.get_by_text("Trial mode: only verified numbers can be called")
    expect(trial).to_be_visible()
    sound_at_both_widths(visit, look, script)
    page.get_by_role("link", name="Verify a number").click()
    expect(page.get_by_text("No verified numbers yet")).to_be_visible()
    page.get_by_label("Number").fill("911")
    page.get_by_role("button", name="Call with a code").click()
    expect(page.get_by_role("alert")).to_be_visible()
    sound_at_both_widths(visit, look, script)
    page.get_by_role("link", name="End trial mode…").click()
    heading(page, f"End trial mode of {name}?")
    page.get_by_role("button", name="End trial mode").click()
    expect(page.get_by_text(f"The trial mode of {name} has ended.")).to_be_visible()
    expect(trial).to_have_count(0)


def test_a_spending_limit_is_saved_and_shown_with_what_is_used(
    visit: Visit, look: Look, script: bool
) -> None:
    page = visit.page
    add_organization(page, "Barnes Roofing", look, script)
    page.get_by_role("link", name="Spending", exact=True).last.click()
    amount, minutes = page.get_by_label("A day").first, page.get_by_label("A day").last
    amount.fill("a lot")
    minutes.fill("90")
    page.get_by_role("button", name="Save limits").click()
    expect(page.get_by_role("alert")).to_contain_text("Enter an amount like 12.50.")
    sound_at_both_widths(visit, look, script)
    amount.fill("25")
    page.get_by_role("button", name="Save limits").click()
    expect(page.get_by_text("Spending limits saved.")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text("25.00")
    expect(page.get_by_role("main")).to_contain_text("of 90")
    sound_at_both_widths(visit, look, script)


def test_a_number_is_moved_to_another_organization(
    visit: Visit, look: Look, partner: dict[str, Any], script: bool
) -> None:
    page = visit.page
    names = [organization["name"] for organization in partner["organizations"][:2]]
    page.goto("/numbers")
    heading(page, "Phone numbers")
    sound_at_both_widths(visit, look, script)
    row = page.get_by_role("row").filter(has_text=re.compile("|".join(map(re.escape, names)))).first
    number = row.locator(".name").inner_text()
    after = names[names[0] in row.inner_text()]  # the one that has none
    row.get_by_role("link", name="Move").click()
    page.get_by_label("Name or referral code").fill(after)
    page.get_by_label("Name or referral code").press("Enter")
    page.get_by_role("listitem").filter(has_text=after).get_by_role("link").click()
    heading(page, f"Move {number} to {after}?")
    sound_at_both_widths(visit, look, script)
    page.get_by_role("button", name="Move number").click()
    expect(page.get_by_text(f"{number} moved to {after}.")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text=number)).to_contain_text(after)


def test_an_organization_without_storage_says_that_uploads_are_refused(
    visit: Visit, look: Look, script: bool
) -> None:
    page = visit.page
    name = add_organization(page, "Mortlake Florists", look, script)
    page.get_by_role("link", name="Storage and largest uploads").click()
    heading(page, f"Storage of {name}")
    page.get_by_label("Limit").fill("0")
    page.get_by_role("button", name="Save limit").click()
    expect(page.get_by_text("Storage limit saved.")).to_be_visible()
    expect(page.get_by_text("The limit is reached: new uploads are refused.")).to_be_visible()
    sound_at_both_widths(visit, look, script)
