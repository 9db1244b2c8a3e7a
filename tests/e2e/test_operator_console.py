"""On a portal of their own: the operator adds a partner and sees a portal as a user, an owner takes
over the users of their organization, a partner proves a domain, a user reads why a page is refused.
"""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.e2e.chromium import HEIGHT
from tests.e2e.conftest import Open, OwnStacks
from tests.e2e.visits import Look, heading, sound
from tests.fixtures.dns_server import DnsServer
from tests.fixtures.stack import Stack


@pytest.fixture(scope="module")
def dns() -> Iterator[DnsServer]:
    with DnsServer().open() as server:
        yield server


@pytest.fixture
def stack(own_stacks: OwnStacks, backend: str, dns: DnsServer) -> Stack:
    return own_stacks(backend, {"PORTAL_DNS_SERVERS": dns.setting})


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

    visit.speak("de")
    page.set_viewport_size({"width": 390, "height": HEIGHT})
    page.goto("/")
    assert visit.layout() == []
    visit.speak("en")
    page.set_viewport_size({"width": look.width, "height": HEIGHT})

    page.goto("/")
    page.get_by_role("link", name="Add partner").click()
    page.get_by_role("button", name="Add partner").click()
    expect(page.get_by_role("alert")).to_contain_text("Company name: ")
    sound(visit, script)
    page.get_by_label("Company name").fill(name)
    page.get_by_label("Email", exact=True).fill(f"ada@{script}.example".lower())
    page.get_by_role("button", name="Add partner").click()
    heading(page, name)
    expect(page.get_by_role("row", name="ada@")).to_contain_text("Invited")
    sound(visit, script)

    page.get_by_role("link", name="Suspend…").click()
    page.get_by_role("button", name="Suspend partner").click()
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
    admin.sign_in(partner["users"][0], then=f"/users/{member['id']}/edit")
    admin.page.get_by_role("radio", name="Owner").check()
    admin.page.get_by_role("button", name="Save user").click()
    expect(admin.page.locator("main")).to_contain_text("What an owner may do")
    sound(admin, script)
    admin.page.goto(f"/organizations/{organization['id']}/plan")
    admin.page.get_by_label("User limit").fill(str(look.width + script))  # new in each look
    admin.page.get_by_role("button", name="Review changes").click()
    admin.page.get_by_role("button", name="Apply changes").click()

    owner = open_browser(stack, partner, script=script)
    owner.sign_in(member)
    page = owner.page
    page.get_by_role("link", name="Invite user").click()
    sound(owner, script)
    page.get_by_label("Email").fill(f"colleague-{look.width}-{script}@x.example".lower())
    page.get_by_role("button", name="Invite user").click()
    heading(page, re.compile("^colleague-"))
    sound(owner, script)
    page.goto("/users")
    sound(owner, script)
    page.goto(f"/assistants/{organization['agents'][0]['id']}")
    page.get_by_role("link", name="Edit assistant").click()
    page.get_by_label("Name", exact=True).fill("Vera")
    page.get_by_role("button", name="Save assistant").click()
    heading(page, re.compile("^Vera"))
    sound(owner, script)


def test_the_operator_sees_a_portal_as_a_user_and_stops(
    stack: Stack, look: Look, open_browser: Open, script: bool
) -> None:
    partner = stack.demo["partners"][look.brand]
    user = partner["users"][0]
    visit = open_browser(stack, partner, script=script)
    page, main = visit.page, visit.page.locator("main")
    visit.slug = ""
    visit.sign_in(stack.demo["operator"], then=f"/users/{user['id']}")
    page.get_by_role("link", name="View as user…").click()
    heading(page, re.compile("^View the portal as"))
    page.get_by_role("button", name="View as user").click()
    expect(main).to_contain_text("Enter a reason")
    sound(visit, script)
    page.get_by_label("Reason").fill("Request 4711")
    page.get_by_role("button", name="View as user").click()
    heading(page, "Overview")
    bar = page.get_by_role("complementary", name="View as user")
    expect(bar).to_contain_text("Nothing can be changed.")
    sound(visit, script)
    stays = "e => [e.getBoundingClientRect().top, document.scrollingElement.scrollTop > 100]"
    for width in (390, 1360):
        page.set_viewport_size({"width": width, "height": 500})
        page.evaluate("window.scrollTo(0, 200)")
        assert bar.evaluate(stays) == [0, True]
    below = page.locator(".sidebar-user-button").evaluate("e => e.getBoundingClientRect().bottom")
    assert below <= 500
    page.set_viewport_size({"width": look.width, "height": HEIGHT})
    page.goto(f"/users/{user['id']}/edit")
    save = page.get_by_role("button", name="Save user")
    if script:
        expect(save).to_be_disabled()
        expect(save).to_have_attribute("title", re.compile("Nothing can be changed."))
        expect(page.get_by_label("Name (optional)")).not_to_be_editable()
        page.goto("/alerts")
        main_acts = [main.get_by_role("link", name=name).first for name in ("Add rule", "Edit: ")]
        greyed = {act.evaluate("e => getComputedStyle(e).color") for act in main_acts}
        expect(main.get_by_role("button", name="Mute: ").first).to_be_disabled()
        assert len(greyed) == 1
        page.goto(f"/users/{user['id']}")
    else:
        save.click()
        heading(page, "Read only")
    sound(visit, script)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("link", name="View as user…")).to_be_visible()
    expect(bar).to_have_count(0)


def test_a_refused_page_leads_to_its_explanation(
    stack: Stack, look: Look, open_browser: Open, script: bool
) -> None:
    partner = stack.demo["partners"][look.brand]
    visit = open_browser(stack, partner, script=script)
    visit.sign_in(partner["organizations"][1]["users"][0])
    visit.page.goto("/branding")
    sound(visit, script)
    visit.page.get_by_role("link", name="Why can’t I open this?").click()
    heading(visit.page, "Your access")
    expect(visit.page.locator("main")).to_contain_text("doesn’t allow it")
    sound(visit, script)
    visit.page.get_by_role("link", name="Why? See users").click()
    expect(visit.page.locator("main")).to_contain_text("Action See users")


def test_a_partner_proves_its_domain(
    stack: Stack, look: Look, open_browser: Open, script: bool, dns: DnsServer
) -> None:
    visit = open_browser(stack, stack.demo["partners"][look.brand], script=script)
    page, main = visit.page, visit.page.locator("main")
    domain = f"calls.{script}-{look.width}-{look.scheme}.example".lower()
    visit.sign_in(stack.demo["partners"][look.brand]["users"][0], then="/settings")
    page.get_by_label("Portal domain").fill(domain)
    page.get_by_role("button", name="Save settings").click()
    page.get_by_label("Change the domain").check()
    page.get_by_role("button", name="Save settings").click()
    main.get_by_role("link", name="set its DNS records").first.click()
    heading(page, "Domain and email")

    def checked() -> None:
        again = page.get_by_role("button", name="Check now")
        while not script and not again.count():
            page.reload()
        expect(again).to_be_visible()

    checked()
    expect(main).to_contain_text("Not verified yet")
    expect(page.get_by_role("row", name="Ownership")).to_contain_text("Missing")
    sound(visit, script)
    token = page.locator("#portal-ownership-value").inner_text()
    host = page.locator("#portal-address-value").inner_text()
    dns.serve(f"_portal-challenge.{domain}", "TXT", token)
    dns.serve(domain, "CNAME", f"{host}.")
    with page.expect_navigation():
        page.get_by_role("button", name="Check now").click()
    checked()
    expect(main).to_contain_text(f"Your customers open https://{domain}")
    expect(page.get_by_role("row", name="Ownership")).to_contain_text("Found")
    sound(visit, script)
