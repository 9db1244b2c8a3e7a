"""A second factor in Chromium, whose own virtual authenticator makes and proves passkeys."""

from datetime import UTC, datetime, timedelta

import pyotp
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Open
from tests.e2e.test_signing_in import Partner, person_of
from tests.e2e.visits import Visit
from tests.fixtures.stack import Stack

DEVICE = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


class Journey:
    """An administrator at a host name, since passkeys don't work at an IP address."""

    def __init__(self, visit: Visit, site: str, user: dict[str, str]):
        self.visit, self.page, self.site, self.user = visit, visit.page, site, user

    def go(self, path: str) -> Page:
        self.page.goto(f"{self.site}{path}")
        return self.page

    def enter_password(self) -> None:
        page = self.go(f"/p/{self.visit.slug}/sign-in")
        page.get_by_label("Email").fill(self.user["email"])
        page.get_by_label("Password").fill(self.user["password"])
        page.get_by_role("button", name="Sign in", exact=True).click()

    def sign_out(self) -> None:
        self.page.context.clear_cookies(name="portal_session")

    def shows(self, heading: str) -> None:
        expect(self.page.get_by_role("heading", level=1, name=heading)).to_be_visible()

    def is_sound(self) -> None:
        assert self.visit.findings() == []


@pytest.fixture
def journey(shared_stack: Stack, partner: Partner, open_browser: Open) -> Journey:
    visit = open_browser(shared_stack, partner)
    devices = visit.page.context.new_cdp_session(visit.page)
    devices.send("WebAuthn.enable")
    devices.send("WebAuthn.addVirtualAuthenticator", {"options": DEVICE})
    site = shared_stack.base_url.replace("127.0.0.1", "localhost")
    return Journey(visit, site, person_of(partner, "partnerAdmin"))


def test_an_app_and_a_passkey_are_added_used_and_removed(journey: Journey) -> None:
    page = journey.page
    journey.enter_password()
    journey.shows("Overview")

    journey.go("/account")
    page.get_by_role("link", name="Add second factor").click()
    journey.shows("Second factor")
    journey.is_sound()
    page.get_by_role("button", name="Add app").click()
    journey.shows("Add authenticator app")
    journey.is_sound()
    app = pyotp.TOTP(page.locator("#app-secret").inner_text().replace(" ", ""))
    page.get_by_label("Code", exact=True).fill(app.now())
    page.get_by_role("button", name="Add app").click()
    journey.shows("Recovery codes")
    journey.is_sound()
    codes = page.locator("#recovery-codes").inner_text().split()
    assert len(codes) == 10
    page.get_by_role("link", name="Continue").click()

    page.get_by_label("Name").fill("Own laptop")
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_text("Passkey added.")).to_be_visible()
    expect(page.get_by_text("Own laptop")).to_be_visible()
    journey.is_sound()

    journey.sign_out()
    journey.go(f"/p/{journey.visit.slug}/sign-in")
    page.get_by_role("button", name="Use a passkey").click()
    journey.shows("Overview")

    journey.sign_out()
    journey.enter_password()
    journey.shows("Confirm it’s you")
    journey.is_sound()
    page.get_by_role("button", name="Use a passkey").click()
    journey.shows("Overview")

    journey.sign_out()
    journey.enter_password()
    page.get_by_label("Code", exact=True).fill("000000")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("alert").first).to_contain_text("This code is wrong")
    page.get_by_label("Code", exact=True).fill(app.at(datetime.now(UTC) + timedelta(seconds=30)))
    page.get_by_label("Don’t ask again").check()
    page.get_by_role("button", name="Sign in", exact=True).click()
    journey.shows("Overview")

    journey.sign_out()
    journey.enter_password()
    journey.shows("Overview")  # the browser is remembered, but risky acts ask
    journey.go("/users/invite")
    journey.shows("Confirm it’s you")
    journey.is_sound()
    page.get_by_label("Code", exact=True).fill(codes[0])
    page.get_by_role("button", name="Confirm").click()
    expect(page).to_have_url(f"{journey.site}/users/invite")

    journey.go("/account/factors")
    expect(page.get_by_text("9 recovery codes are left")).to_be_visible()
    page.get_by_role("link", name="Remove the passkey Own laptop").click()
    page.get_by_role("button", name="Remove passkey").click()
    expect(page.get_by_text("Passkey removed.")).to_be_visible()
    page.get_by_role("link", name="Remove app").click()
    page.get_by_role("button", name="Remove app").click()
    expect(page.get_by_text("Authenticator app removed.")).to_be_visible()
    journey.sign_out()
    journey.enter_password()
    journey.shows("Overview")
