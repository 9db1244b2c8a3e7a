"""Signing in with a company account at a real OpenID Connect provider, in a browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.e2e.test_operator_console import heading, sound
from tests.e2e.test_signing_in import Partner, person_of
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
    live: Stack, partner: Partner, open_browser: Open, server: IdentityServer, script: bool
) -> None:
    visit = open_browser(live, partner, script=script)
    page, main = visit.page, visit.page.locator("main")
    # The provider's pages ask for a font, which the tests don't fetch.
    page.context.route("https://fonts.googleapis.com/**", lambda route: route.fulfill(body=""))
    visit.sign_in(person_of(partner, "partnerAdmin"), then="/settings/company-accounts")

    heading(page, "Sign-in with a company account")
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
    heading(page, "Sign in")  # the session began with the account
    expect(page.get_by_role("link", name="Sign in with Acme ID")).to_have_count(0)
