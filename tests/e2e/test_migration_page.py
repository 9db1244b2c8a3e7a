"""A client of the Legacy API asks, and its partner sees how to move it."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.e2e.scripts import ask, token_of
from tests.e2e.visits import sound
from tests.fixtures.stack import Stack


def test_a_client_is_migrated_with_its_page(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    organization = partner["organizations"][0]
    legacy = organization["legacyClient"]
    body = {
        "name": "Ada Lovelace",
        "toPhoneNumber": organization["doNotCall"][0],
        "fromPhoneNumber": organization["agents"][0]["phoneNumber"],
        "introNotes": "She asked for a quote.",
    }
    token = token_of(shared_stack, legacy, scope="phone/call.out")
    with pytest.raises(RuntimeError, match="POST /phone/outbound"):
        ask(shared_stack, "POST", "/phone/outbound", body=body, token=token)
    visit = open_browser(shared_stack, partner, script=script)
    page = visit.page
    visit.sign_in(partner["users"][0], then="/api-access")
    page.get_by_role("link", name="Migration", exact=True).click()
    search = page.get_by_role("searchbox", name="Client or organization")
    search.fill(organization["name"])
    search.press("Enter")
    client = page.get_by_role("link", name="Old dialler")
    expect(client).to_have_count(1)
    client.click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Move “Old dialler”")
    expect(page.locator("#successor-curl")).to_contain_text(organization["agents"][0]["id"])
    expect(page.locator("#shadow-answer")).to_contain_text("409 Conflict")
    refused = "409 Conflict" if legacy["servedUntil"] else "410 Gone"
    expect(page.locator("#legacy-answer")).to_contain_text(refused)
    both = "for the same reason" if legacy["servedUntil"] else "Both refuse it. The legacy API:"
    expect(page.get_by_text(both)).to_be_visible()
    left = "days left" if legacy["servedUntil"] else "days ago"
    expect(page.get_by_text(left)).to_be_visible()
    if script:
        assert visit.findings() == []


def test_the_operator_gives_a_client_an_extension_and_ends_it(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    visit = open_browser(shared_stack, partner, script=script)
    page, home = visit.page, f"/operator/partners/{partner['id']}"
    visit.slug = ""
    visit.sign_in(shared_stack.demo["operator"], then=home)
    page.get_by_role("link", name="View clients").click()
    # Only the first organization's client is used by other journeys.
    row = page.get_by_role("row").filter(has_text=partner["organizations"][1]["name"])
    row.get_by_role("link", name="Old dialler").click()
    sound(visit, script)
    page.get_by_role("link", name=re.compile("^(Give|Change) extension…$")).click()
    day = page.get_by_label("Last day (UTC)")
    day.fill("2001-01-01")
    page.get_by_role("button", name="Save extension").click()
    expect(page.locator("main")).to_contain_text("Choose an end date in the future.")
    sound(visit, script)
    day.fill("2099-12-31")
    page.get_by_role("button", name="Save extension").click()
    expect(page.locator("main")).to_contain_text(
        "The legacy API serves “Old dialler” through 31 Dec"
    )
    page.get_by_role("link", name="End extension…").click()
    sound(visit, script)
    page.get_by_role("button", name="End extension").click()
    expect(page.locator("main")).to_contain_text("The extension of “Old dialler” has ended.")
    expect(page.get_by_role("link", name="Give extension…")).to_be_visible()
