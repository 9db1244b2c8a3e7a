"""A contact found, changed, removed, put back and never called again."""

from typing import Any

from playwright.sync_api import expect

from tests.e2e.conftest import LOOKS, Open
from tests.e2e.visits import Look
from tests.fixtures.stack import Stack


def test_a_contact_is_changed_removed_and_put_back(
    live: Stack, partner: dict[str, Any], open_browser: Open, look: Look, script: bool
) -> None:
    visit = open_browser(live, partner, script=script)
    page = visit.page
    campaign = partner["organizations"][1]["campaigns"][0]
    run = 2 * LOOKS.index(look) + script  # whoever is never called again stays on the list
    number, name = f"+1 773 555 017{run}", f"Ida {'With' if script else 'Without'}"
    visit.sign_in(partner["organizations"][1]["users"][0], then=f"/campaigns/{campaign['id']}")
    page.get_by_role("link", name="Add contact").click()
    page.get_by_label("First name").fill(name)
    page.get_by_role("button", name="Add contact").click()
    expect(page.get_by_role("alert")).to_contain_text("Enter a phone number or an email address.")
    page.get_by_label("Phone").fill(number)
    page.get_by_role("button", name="Add contact").click()
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()

    page.get_by_role("link", name="Edit contact").click()
    page.get_by_label("Last name").fill("Rhodes")
    page.get_by_label("More details").fill("plan = gold")
    if script:
        assert visit.findings() == []
    page.get_by_role("button", name="Save contact").click()
    expect(page.get_by_role("row", name="plan gold")).to_be_visible()
    if script:
        assert visit.findings() == []

    page.goto(f"/campaigns/{campaign['id']}?q={number.replace('+', '%2B')}")
    page.get_by_role("link", name=f"{name} Rhodes").click()
    page.get_by_role("link", name="Remove…").click()
    where = page.get_by_role("dialog") if script else page.locator("main")
    where.get_by_role("button", name="Remove contact").click()
    expect(page.get_by_text(f"{name} Rhodes was removed")).to_be_visible()
    if script:
        assert visit.findings() == []
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("row", name="plan gold")).to_be_visible()

    page.get_by_role("link", name="Never call…").click()
    where = page.get_by_role("dialog") if script else page.locator("main")
    where.get_by_role("button", name="Add to do-not-call list").click()
    expect(page.get_by_text("is on the do-not-call list.")).to_be_visible()
