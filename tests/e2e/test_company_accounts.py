"""A company account at a real OpenID Connect provider, and a directory, in a browser."""

import re
from collections.abc import Iterator
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.e2e.scripts import ask
from tests.e2e.test_signing_in import Partner, person_of
from tests.e2e.visits import heading, sound
from tests.fixtures.identity_provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    IdentityServer,
    identity_server,
)
from tests.fixtures.stack import Stack


@pytest.fixture
def server() -> Iterator[IdentityServer]:
    with identity_server({"s-admin": {}}) as running:
        yield running


def test_a_company_account_is_added_linked_used_and_removed(
    shared_stack: Stack, partner: Partner, open_browser: Open, server: IdentityServer, script: bool
) -> None:
    visit = open_browser(shared_stack, partner, script=script)
    page, main = visit.page, visit.page.locator("main")
    # The provider's pages ask for a font, which the tests don't fetch.
    page.context.route("https://fonts.googleapis.com/**", lambda route: route.fulfill(body=""))
    visit.sign_in(person_of(partner, "partnerAdmin"), then="/settings/company-accounts")

    heading(page, "Company accounts")
    expect(main).to_contain_text("No company account")
    sound(visit, script)
    page.get_by_role("link", name="Add company account").click()
    page.get_by_label("Name on the button").fill("Acme ID")
    page.get_by_label("Issuer").fill("http://127.0.0.1:9")
    page.get_by_label("Client ID").fill(CLIENT_ID)
    page.get_by_label("Client secret").fill(CLIENT_SECRET)
    page.get_by_role("button", name="Add company account").click()
    expect(page.get_by_role("alert").first).to_contain_text("provider")
    sound(visit, script)
    page.get_by_label("Issuer").fill(server.issuer)
    page.get_by_label("Client secret").fill(CLIENT_SECRET)
    page.get_by_role("button", name="Add company account").click()
    heading(page, "Edit Acme ID")
    sound(visit, script)

    page.goto("/account")
    page.get_by_role("button", name="Link Acme ID").click()
    heading(page, "Link Acme ID")
    sound(visit, script)
    page.get_by_role("link", name="Acme ID").click()
    page.locator("[name=login]").fill("s-admin")
    page.locator("[name=password]").fill("any")
    page.get_by_role("button", name="Sign-in").click()
    page.get_by_role("button", name="Continue").click()
    heading(page, "Your account")
    expect(main).to_contain_text("Linked since")
    sound(visit, script)

    page.context.clear_cookies(name="portal_session")
    page.goto(f"/p/{visit.slug}/sign-in")
    sound(visit, script)
    page.get_by_role("link", name="Sign in with Acme ID").click()
    heading(page, "Overview")

    page.goto("/settings/company-accounts")
    page.get_by_role("link", name="Acme ID").click()
    page.get_by_role("link", name="Remove…").click()
    heading(page, "Remove Acme ID?")
    sound(visit, script)
    page.get_by_role("button", name="Remove company account").click()
    heading(page, re.compile("^Sign in to"))  # the session began with the account
    expect(page.get_by_role("link", name="Sign in with Acme ID")).to_have_count(0)


def test_a_directory_gets_a_token_sends_a_group_and_is_disconnected(
    shared_stack: Stack, partner: Partner, open_browser: Open, script: bool
) -> None:
    visit = open_browser(shared_stack, partner, script=script)
    page, main = visit.page, visit.page.locator("main")
    word = uuid4().hex[:8]  # what another run of this journey left stays in the lists
    name, group = f"Entra {word}", f"Designers {word}"
    visit.sign_in(person_of(partner, "partnerAdmin"), then="/settings/directory")
    page.get_by_role("link", name="Create token").click()
    page.get_by_role("button", name="Create token").click()
    expect(page.get_by_role("alert").first).to_contain_text("Enter a name")
    sound(visit, script)
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Create token").click()
    secret = page.locator("code").filter(has_text="pps_").first.inner_text()
    sound(visit, script)
    ask(shared_stack, "POST", "/scim/v2/Groups", body={"displayName": group}, token=secret)

    page.goto("/settings/directory")
    expect(main).not_to_contain_text(secret)
    sound(visit, script)
    page.get_by_role("link", name=group).click()
    heading(page, group)
    page.get_by_label("Role").select_option(label="Owner")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert").first).to_contain_text("organization")
    sound(visit, script)
    page.get_by_label("Role").select_option(label="Partner editor")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("row", name=group)).to_contain_text("Partner editor")

    page.get_by_role("row", name=name).get_by_role("link", name="Rotate").click()
    sound(visit, script)
    page.get_by_role("button", name="Rotate token").click()
    newer = page.locator("code").filter(has_text="pps_").first.inner_text()
    assert newer != secret
    page.goto("/settings/directory")
    page.get_by_role("row", name=newer[4:20]).get_by_role("link", name="Revoke…").click()
    sound(visit, script)
    page.get_by_role("button", name="Revoke token").click()
    expect(main).to_contain_text("It no longer works.")
    sound(visit, script)
