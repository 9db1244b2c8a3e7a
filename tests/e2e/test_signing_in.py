"""Signing in and out, and what each role finds in the sidebar."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Open
from tests.e2e.visits import Look
from tests.fixtures.stack import Stack

Partner = dict[str, Any]

CUSTOMERS = ("Overview", "Organizations", "Users", "Assistants", "Phone numbers")
OUTREACH = ("Campaigns", "Uploads", "Calls", "Test call", "Do not call")
PLACES = {
    "partnerAdmin": [
        *(*CUSTOMERS, *OUTREACH[:-1], "Carrier status", OUTREACH[-1]),
        *("Usage", "Costs and margin", "Report", "Alerts"),
        *("Branding", "API access", "Pricing", "Settings", "History"),
    ],
    "partnerEditor": [*CUSTOMERS, *OUTREACH, "Usage", "Report", "Alerts", "Branding", "Pricing"],
    "admin": [*CUSTOMERS, *OUTREACH, "Usage", "Costs and margin", "Report", "Alerts", "Pricing"],
    "standard": ["Overview", *OUTREACH, "Usage", "Plan"],
}


def person_of(partner: Partner, role: str) -> dict[str, Any]:
    """The demo's person of a role; a member is one of the first organization."""
    everyone = [*partner["users"], *partner["organizations"][0]["users"]]
    return next(user for user in everyone if user["userType"] == role)


def show_places(page: Page, look: Look) -> None:
    """On a phone the sidebar is behind a button."""
    if look.width < 860:
        page.get_by_role("button", name="Menu", exact=True).click()


def test_signing_in_leads_back_to_the_page_that_was_asked_for(
    shared_stack: Stack, partner: Partner, open_browser: Open, script: bool
) -> None:
    visit = open_browser(shared_stack, partner, script=script)
    page = visit.page
    page.goto(f"/p/{visit.slug}/sign-in")
    page.goto("/usage?start=2026-01-01&end=2026-01-31")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Sign in to")
    page.get_by_label("Email").fill(partner["users"][0]["email"])
    password, show = page.get_by_label("Password"), page.get_by_role("button", name="Show")
    password.fill(partner["users"][0]["password"])
    expect(show).to_have_count(1 if script else 0)
    if script:
        show.click()
        expect(show).to_have_attribute("aria-pressed", "true")
        expect(password).to_have_attribute("type", "text")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1, name="Usage")).to_be_visible()
    assert page.url == f"{shared_stack.base_url}/usage?start=2026-01-01&end=2026-01-31"


def test_a_wrong_password_is_refused_once_and_the_address_stays(
    shared_stack: Stack, partner: Partner, open_browser: Open, script: bool
) -> None:
    visit = open_browser(shared_stack, partner, script=script)
    visit.sign_in({"email": partner["users"][0]["email"], "password": "not this one"})
    page = visit.page
    refusal = "Email or password is wrong. Check both and try again."
    expect(page.get_by_role("alert")).to_have_text(refusal)
    expect(page.get_by_text(refusal)).to_have_count(1)
    expect(page.get_by_label("Email")).to_have_value(partner["users"][0]["email"])
    if script:
        expect(page.get_by_role("alert")).to_be_focused()
        assert visit.findings() == []


def test_an_unknown_address_is_answered_like_a_wrong_password(
    shared_stack: Stack, partner: Partner, open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner)
    visit.sign_in({"email": "nobody@mail.example", "password": "not this one"})
    expect(visit.page.get_by_role("alert")).to_contain_text(
        "Email or password is wrong. Check both and try again."
    )


def test_after_signing_out_the_pages_ask_to_sign_in_again(
    shared_stack: Stack, partner: Partner, open_browser: Open, script: bool, look: Look
) -> None:
    visit = open_browser(shared_stack, partner, script=script)
    visit.sign_in(partner["users"][0])
    page = visit.page
    expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    show_places(page, look)
    page.get_by_role("button", name="Partner admin").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Sign in to")
    page.goto("/organizations")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Sign in to")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Sign in to")


@pytest.mark.parametrize("role", sorted(PLACES))
def test_the_sidebar_shows_each_role_its_places_and_no_others(
    shared_stack: Stack, partner: Partner, open_browser: Open, look: Look, role: str
) -> None:
    visit = open_browser(shared_stack, partner, script=False)
    visit.sign_in(person_of(partner, role))
    page = visit.page
    show_places(page, look)
    sidebar = page.get_by_role("navigation", name="Portal")
    expect(sidebar.locator('.sidebar-row[href^="/"]:visible')).to_have_text(PLACES[role])


def test_a_page_that_a_role_may_not_open_is_not_found(
    shared_stack: Stack, partner: Partner, open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner)
    visit.sign_in(person_of(partner, "standard"))
    expect(visit.page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    answer = visit.page.goto("/branding")
    assert answer is not None
    assert answer.status == 404
    expect(visit.page.get_by_role("heading", name="Page not found")).to_be_visible()
    assert visit.findings() == []
