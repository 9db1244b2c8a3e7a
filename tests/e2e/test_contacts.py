"""A contact found, changed, removed, restored and never called again; another one erased."""

from typing import Any

from playwright.sync_api import expect

from tests.e2e.conftest import LOOKS, Open
from tests.e2e.scripts import ask
from tests.e2e.visits import Look, heading, sound
from tests.fixtures.stack import Stack


def test_a_contact_is_changed_removed_and_restored(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, look: Look, script: bool
) -> None:
    visit = open_browser(shared_stack, partner, script=script)
    page = visit.page
    campaign = partner["organizations"][1]["campaigns"][0]
    run = 2 * LOOKS.index(look) + script  # a contact who is never called again stays on the list
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

    page.get_by_role("link", name="Add to do-not-call list…").click()
    where = page.get_by_role("dialog") if script else page.locator("main")
    where.get_by_role("button", name="Add to do-not-call list").click()
    expect(page.get_by_text("is on the do-not-call list.")).to_be_visible()


def test_a_contact_is_erased_and_the_pseudonym_stays(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, look: Look, script: bool
) -> None:
    organization = partner["organizations"][0]
    campaign, run = organization["campaigns"][0]["id"], 2 * LOOKS.index(look) + script
    name = f"Gil Number{run}"
    people = [
        {"firstName": "Gil", "lastName": f"Number{run}", "email": f"gil{run}@mail.example"},
        {"firstName": "Bo", "email": f"bo{run}@mail.example", "note": f"Ask number{run}"},
    ]
    path, key = f"/api/v1/campaigns/{campaign}/contacts", organization["apiKey"]
    ask(shared_stack, "POST", path, body={"action": "upsert", "contacts": people}, key=key)
    visit = open_browser(shared_stack, partner, script=script)
    page, main = visit.page, visit.page.locator("main")
    visit.sign_in(partner["users"][0], then=f"/campaigns/{campaign}?q=Number{run}")
    page.get_by_role("link", name=name).click()
    page.get_by_role("link", name="Erase…").click()
    heading(page, f"Erase {name}?")
    expect(main).to_contain_text(f"Ask number{run}")
    page.get_by_role("button", name="Erase for good").click()
    expect(page.get_by_role("alert").first).to_contain_text("The text doesn’t match.")
    sound(visit, script)
    page.get_by_label("Confirm").fill(name)
    page.get_by_role("button", name="Erase for good").click()
    heading(page, "Erasure of a person’s data")
    for _patience in range(60):
        if main.get_by_text("Done").count():
            break
        page.wait_for_timeout(250)
        page.reload()
    expect(main).to_contain_text("Done")
    sound(visit, script)
    page.goto("/settings/personal-data")
    expect(page.get_by_role("row", name="erased-").first).to_contain_text("Done")
    sound(visit, script)
