"""Invited, forgotten, signed out: coming in by mail, and one's own account."""

from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Open
from tests.e2e.outbox import open_mail
from tests.e2e.scripts import ask, new_organization, token_of
from tests.fixtures.stack import Stack

Partner = dict[str, Any]

PASSWORD = "a long way to the sea"
SECOND = "another way to the hills"


def invite(stack: Stack, partner: Partner) -> str:
    """Invites a new user into an organization of their own; returns the address."""
    organization = new_organization(stack, partner, userLimit=0)
    token = token_of(stack, partner["client"])
    body = {"email": f"ada@{uuid4().hex[:12]}.example", "orgId": organization}
    invited = ask(stack, "POST", "/api/users/partial", body=body, token=token)
    assert invited["status"] == "invited"
    return body["email"]


def link_in(page: Page, words: str) -> str:
    """The URL of the mail's button; a click on it opens the page next to the portal."""
    button = page.frame_locator("iframe").get_by_role("link", name=words, exact=True)
    with page.expect_popup() as opened:
        button.click()
    expect(opened.value.get_by_role("heading", level=1)).to_be_visible()
    opened.value.close()
    return str(button.get_attribute("href"))


def set_password(page: Page, password: str, act: str) -> None:
    page.get_by_label("New password").fill(password)
    page.get_by_label("Confirm password").fill(password)
    page.get_by_role("button", name=act).click()


def test_a_user_signs_in_from_an_invitation_and_from_a_recovery_link(
    shared_stack: Stack, partner: Partner, open_browser: Open, script: bool
) -> None:
    email = invite(shared_stack, partner)
    administrator = open_browser(shared_stack, partner, script=script)
    administrator.sign_in(partner["users"][0], then="/outbox")
    open_mail(administrator, "You are invited to", email)
    if script:
        height = "frame => frame.contentDocument.documentElement.scrollHeight - frame.clientHeight"
        assert administrator.page.locator("iframe.mail-frame").evaluate(height) == 0
        assert administrator.findings() == []
        administrator.page.get_by_role("link", name="As text").click()
        expect(administrator.page.locator(".mail-frame-text")).to_be_visible()
        assert administrator.findings() == []
        administrator.page.get_by_role("link", name="As HTML").click()
    invitation = link_in(administrator.page, "Accept invitation")

    visit = open_browser(shared_stack, partner, script=script)
    page = visit.page
    page.goto(invitation)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Welcome to")
    set_password(page, "short", "Accept invitation")
    expect(page.get_by_role("alert")).to_contain_text("Too short: 5 characters")
    if script:
        assert visit.findings() == []
    page.get_by_label("Your name").fill("Ada Byron")
    set_password(page, PASSWORD, "Accept invitation")
    expect(page.locator(".result-success")).to_contain_text("Welcome, Ada Byron.")

    page.context.clear_cookies(name="portal_session")
    page.goto(f"/p/{visit.slug}/sign-in")
    page.get_by_role("link", name="Forgot your password?").click()
    page.get_by_label("Email").fill(email)
    page.get_by_role("button", name="Send link").click()
    expect(page.get_by_role("heading", name="Check your email")).to_be_visible()
    if script:
        assert visit.findings() == []
    open_mail(administrator, "Set a new password for", email)
    page.goto(link_in(administrator.page, "Set a new password"))
    set_password(page, SECOND, "Set password")
    expect(page.locator(".result-success")).to_contain_text("Password set")
    page.goto(invitation)
    expect(page.get_by_role("heading", name="This link has expired")).to_be_visible()
    if script:
        assert visit.findings() == []


def test_a_form_survives_the_end_of_the_session(
    shared_stack: Stack, partner: Partner, open_browser: Open, script: bool
) -> None:
    visit = open_browser(shared_stack, partner, script=script)
    person = partner["users"][2]
    visit.sign_in(person, then="/account")
    page = visit.page
    usual = page.get_by_label("Name").input_value()
    page.get_by_label("Name").fill("Someone <b>Else</b>")
    page.context.clear_cookies(name="portal_session")
    page.get_by_role("button", name="Save details").click()
    expect(page.get_by_role("heading", name="Your session has ended")).to_be_visible()
    if script:
        assert visit.findings() == []
    page.get_by_label("Email").fill(person["email"])
    page.get_by_label("Password").fill(person["password"])
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="You are signed in again")).to_be_visible()
    if script:
        assert visit.findings() == []
    page.get_by_role("button", name="Send form").click()
    expect(page.locator(".result")).to_contain_text("Details saved.")
    expect(page.get_by_label("Name")).to_have_value("Someone <b>Else</b>")
    page.get_by_label("Name").fill(usual)
    page.get_by_role("button", name="Save details").click()
    expect(page.get_by_label("Name")).to_have_value(usual)


@pytest.mark.parametrize("all_others", [False, True])
def test_another_browser_is_signed_out_from_the_account_page(
    shared_stack: Stack, partner: Partner, open_browser: Open, script: bool, all_others: bool
) -> None:
    elsewhere = open_browser(shared_stack, partner, script=script)
    elsewhere.sign_in(partner["users"][1], then="/account")
    expect(elsewhere.page.get_by_role("heading", name="Your account")).to_be_visible()
    visit = open_browser(shared_stack, partner, script=script)
    visit.sign_in(partner["users"][1], then="/account")
    page = visit.page
    expect(page.get_by_text("This browser", exact=True)).to_have_count(1)
    if script:
        assert visit.findings() == []
    if all_others:
        page.get_by_role("button", name="Sign out all others").click()
    else:
        page.get_by_role("button", name="Sign out Chrome on").first.click()
    expect(page.locator(".result")).to_contain_text("signed out")
    elsewhere.page.reload()
    expect(elsewhere.page.get_by_role("heading", level=1)).to_contain_text("Sign in to")
