"""A campaign starts, pauses and resumes."""

from typing import Any

from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.e2e.polling import follow_until
from tests.e2e.scripts import ask
from tests.fixtures.stack import Stack


def test_a_campaign_starts_pauses_and_goes_on(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    organization = partner["organizations"][2]
    name = f"Recall {'with' if script else 'without'} script"
    visit = open_browser(shared_stack, partner, script=script)
    page = visit.page
    visit.sign_in(organization["users"][0], then="/campaigns/new")
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Create campaign").click()
    page.get_by_role("link", name="Skip this step").click()
    page.get_by_role("link", name="Upload later").click()
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
    people = [{"phone": f"+1212555{number:04}"} for number in range(4)]
    key = organization["apiKey"]
    campaign = page.url.rpartition("/")[2]
    body = {"contacts": [*people, {"email": "nobody@mail.example"}]}
    ask(shared_stack, "POST", f"/api/v1/campaigns/{campaign}/contacts", key=key, body=body)

    page.get_by_role("link", name="Outreach", exact=True).click()
    page.get_by_role("link", name="Create plan").click()
    page.get_by_label("Sat", exact=True).check()
    page.get_by_label("Sun", exact=True).check()
    page.get_by_label("From").fill("00:00")
    page.get_by_label("To", exact=True).fill("00:00")
    page.get_by_label("Calls an hour").fill("60")
    if script:
        assert visit.findings() == []
    page.get_by_role("button", name="Save plan").click()
    page.get_by_role("link", name="Start campaign…").click()
    where = page.get_by_role("dialog") if script else page.locator("main")
    expect(where).to_contain_text("4 contacts will be called")
    expect(where).to_contain_text("1 will not be called: no phone number.")
    if script:
        assert visit.findings() == []
    where.get_by_role("button", name="Start campaign").click()
    follow_until(page, page.get_by_text("1 of 4 contacts called"))

    page.get_by_role("button", name="Pause campaign").click()
    expect(page.locator(".limit-lead")).to_contain_text("Paused.")
    page.get_by_role("link", name="Change plan").click()
    page.get_by_label("Calls an hour").fill("")
    page.get_by_role("button", name="Save plan").click()
    page.get_by_role("link", name="Resume campaign…").click()
    where = page.get_by_role("dialog") if script else page.locator("main")
    where.get_by_role("button", name="Resume campaign").click()
    follow_until(page, page.get_by_text("All callable contacts were called."))
    expect(page.get_by_text("4 of 4 contacts called")).to_be_visible()
    left_out = page.get_by_role("link", name="1 won’t be called: no phone number")
    expect(left_out).to_be_visible()
    if script:
        assert visit.findings() == []


def test_the_organization_chosen_in_the_form_of_a_campaign_shows_its_assistants(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    organization = partner["organizations"][2]
    visit = open_browser(shared_stack, partner, script=script)
    page = visit.page
    visit.sign_in(partner["users"][0], then="/campaigns/new")
    page.get_by_label("Name").fill("Kept")
    page.get_by_label("Selected assistants").first.check()
    page.get_by_label("Organization").fill(organization["name"])
    if script:
        page.keyboard.press("Tab")
    else:
        page.get_by_role("button", name="Show its assistants").click()
    expect(page.locator("#campaign-assistants [type=checkbox]").first).to_be_visible()
    expect(page.get_by_label("Name")).to_have_value("Kept")
    expect(page.get_by_label("Organization")).to_have_value(organization["name"])
    if script:
        assert visit.findings() == []
    page.locator("#campaign-assistants [type=checkbox]").first.check()
    page.get_by_role("button", name="Create campaign").click()
    page.get_by_role("link", name="Skip this step").click()
    page.get_by_role("link", name="Upload later").click()
    expect(page.get_by_role("heading", level=1, name="Kept")).to_be_visible()
