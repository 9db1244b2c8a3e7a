"""An assistant added and made ready, condition by condition."""

from typing import Any
from uuid import UUID

from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.e2e.scripts import new_organization
from tests.fixtures.stack import Stack


def test_an_assistant_is_added_and_made_ready(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    visit = open_browser(shared_stack, partner, script=script)
    page = visit.page
    organization = new_organization(shared_stack, partner, agentLimit=0)
    name = f"Sam {'with' if script else 'without'} script"
    visit.sign_in(partner["users"][0], then=f"/assistants/new?organization={organization}")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Phone number").fill("12")
    page.get_by_role("button", name="Add assistant").click()
    expect(page.get_by_role("alert")).to_contain_text("1 thing needs changing")
    expect(page.get_by_label("Name")).to_have_value(name)
    if script:
        assert visit.findings() == []
    page.get_by_label("Phone number").fill("")
    page.get_by_role("button", name="Add assistant").click()
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
    expect(page.get_by_text("Not ready")).to_be_visible()
    if script:
        assert visit.findings() == []

    page.get_by_role("link", name="Add number").click()
    page.get_by_label("Phone number").fill(f"+1 202 555 {UUID(organization).int % 10_000:04d}")
    page.get_by_label("Calls from its number").check()
    page.get_by_label("The number is set up with the carrier").check()
    page.get_by_label("Intro").fill("Hello, this is Sam.")
    page.get_by_label("Voicemail message").fill("Hello, this is Sam. Please call back.")
    page.get_by_role("button", name="Save assistant").click()
    expect(page.get_by_text("Ready to call")).to_be_visible()
    expect(page.get_by_role("link", name="Test call", exact=True).last).to_be_visible()

    page.get_by_text("Add a key").click()
    page.get_by_label("Key", exact=True).fill("accountId")
    page.get_by_role("button", name="Add key").click()
    expect(page.get_by_text("Routes to a CRM account.").first).to_be_visible()
    page.get_by_role("link", name="Remove…").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Remove the key accountId?")
    page.get_by_role("button", name="Remove key").click()
    expect(page.get_by_text("The key accountId was removed.")).to_be_visible()
