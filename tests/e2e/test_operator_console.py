"""The operator adds a partner, and an owner takes over the users of their organization."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Open, OwnStacks
from tests.e2e.visits import Look, Visit
from tests.fixtures.stack import Stack


@pytest.fixture
def stack(own_stacks: OwnStacks, backend: str) -> Stack:
    return own_stacks(backend, {})


def heading(page: Page, words: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_contain_text(words)


def sound(visit: Visit, script: bool) -> None:
    """Axe needs a script of its own, so it looks where scripts run."""
    assert (visit.findings() if script else visit.layout()) == []


def test_a_partner_is_added_suspended_and_reactivated(
    stack: Stack, look: Look, open_browser: Open, script: bool
) -> None:
    visit = open_browser(stack, stack.demo["partners"][look.brand], script=script)
    page, name = visit.page, f"Acme {'with' if script else 'without'} script"
    visit.slug = ""
    visit.sign_in(stack.demo["operator"], then="/operator/installation")
    heading(page, "Installation")
    expect(page.get_by_role("row", name="Calling service")).to_contain_text("Online")
    sound(visit, script)

    page.goto("/")
    page.get_by_role("link", name="Add partner").click()
    page.get_by_role("button", name="Add partner").click()
    expect(page.get_by_role("alert")).to_contain_text("Name: ")
    sound(visit, script)
    page.get_by_label("Name", exact=True).first.fill(name)
    page.get_by_label("Email", exact=True).fill(f"ada@{script}.example".lower())
    page.get_by_role("button", name="Add partner").click()
    heading(page, name)
    expect(page.get_by_role("row", name="ada@")).to_contain_text("Invited")
    sound(visit, script)

    page.get_by_role("link", name="Suspend…").click()
    page.get_by_role("button", name="Suspend partner").click()
    page.get_by_role("link", name=name, exact=True).click()
    expect(page.locator("main")).to_contain_text("Suspended")
    page.get_by_role("button", name="Reactivate").click()
    expect(page.locator("main")).to_contain_text(f"{name} reactivated.")


def test_a_member_becomes_an_owner_and_invites_a_colleague(
    stack: Stack, look: Look, open_browser: Open, script: bool
) -> None:
    partner = stack.demo["partners"][look.brand]
    organization = partner["organizations"][0]
    member = organization["users"][0]
    admin = open_browser(stack, partner, script=script)
    admin.sign_in(partner["users"][0], then=f"/people/{member['id']}/edit")
    admin.page.get_by_label("Role").select_option(label="Owner")
    admin.page.get_by_role("button", name="Save user").click()
    expect(admin.page.locator("main")).to_contain_text("What an owner may do")
    sound(admin, script)
    admin.page.goto(f"/organizations/{organization['id']}/plan")
    admin.page.get_by_label("User limit").fill("0")
    admin.page.get_by_role("button", name="Review changes").click()
    admin.page.get_by_role("button", name="Change plan and limits").click()

    owner = open_browser(stack, partner, script=script)
    owner.sign_in(member)
    page = owner.page
    page.get_by_role("link", name="Invite user").click()
    sound(owner, script)
    page.get_by_label("Email").fill(f"colleague-{script}@x.example".lower())
    page.get_by_role("button", name="Invite user").click()
    heading(page, "colleague-")
    sound(owner, script)
    page.goto("/people")
    sound(owner, script)
    page.goto(f"/assistants/{organization['agents'][0]['id']}")
    page.get_by_role("link", name="Edit assistant").click()
    page.get_by_label("Name", exact=True).fill("Vera")
    page.get_by_role("button", name="Save assistant").click()
    heading(page, "Vera")
    sound(owner, script)
