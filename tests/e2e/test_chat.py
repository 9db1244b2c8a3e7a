"""A visitor writes in the chat, and the message goes to the partner's people as a mail."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import Open
from tests.e2e.scripts import ask, token_of
from tests.e2e.visits import Look
from tests.fixtures.stack import Stack
from tests.fixtures.waiting import wait_for


@pytest.fixture
def partner_with_chat(
    shared_stack: Stack, partner: dict[str, Any], restored_brand: None
) -> dict[str, Any]:
    """The partner, offering the chat in colours of its own."""
    token = token_of(shared_stack, partner["client"])
    assistant = partner["organizations"][0]["agents"][0]["id"]
    brand = {
        "showEmbeddedChat": True,
        "chatAgentId": assistant,
        "chatTemplateColors": {"header": "#0b6e4f", "visitor": "#ffd400"},
    }
    ask(shared_stack, "PUT", f"/api/partners/{partner['id']}", token=token, body=brand)
    return partner


def window_of(page: Page, *, script: bool) -> Locator:
    """The chat, opened: a window in the corner, or a page."""
    page.locator(".chat-button").click()
    if script:
        expect(page.get_by_role("dialog")).to_be_visible()
        return page.get_by_role("dialog")
    expect(page.get_by_role("heading", level=1, name="Write to")).to_be_attached()
    return page.locator("main")


def mails_of(stack: Stack) -> list[str]:
    return [path.read_text() for path in (stack.instance / "outbox").glob("**/*.eml")]


def test_a_visitor_writes_before_signing_in(
    shared_stack: Stack,
    partner_with_chat: dict[str, Any],
    open_browser: Open,
    look: Look,
    script: bool,
) -> None:
    visit = open_browser(shared_stack, partner_with_chat, script=script)
    page = visit.page
    page.goto(f"/p/{visit.slug}/sign-in")
    chat = window_of(page, script=script)
    expect(chat.get_by_text("A person answers by email.")).to_be_visible()
    message = f"Where are you? {look} {script}"
    chat.get_by_label("Your message").fill(message)
    chat.get_by_label("Your email address").fill("nobody")
    chat.get_by_role("button", name="Send message").click()
    expect(chat.get_by_text("Enter an email like")).to_be_visible()
    expect(chat.get_by_label("Your message")).to_have_value(message)
    if script:
        assert visit.findings() == []
        # What was refused on purpose isn't a problem of the page.
        visit.problems[:] = [
            message for message in visit.problems if not message.endswith("/chat: 422")
        ]
    chat.get_by_label("Your email address").fill("ada@example.com")
    chat.get_by_role("button", name="Send message").click()
    expect(chat.get_by_text("Your message is on its way.")).to_be_visible()
    if script:
        assert visit.findings() == []
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()
        expect(page.locator(".chat-button")).to_be_focused()
    wait_for(
        lambda: any(
            message in mail and "ada@example.com" in mail for mail in mails_of(shared_stack)
        )
    )


def test_a_person_who_is_signed_in_writes_from_the_portal(
    shared_stack: Stack,
    partner_with_chat: dict[str, Any],
    open_browser: Open,
    look: Look,
    script: bool,
) -> None:
    visit = open_browser(shared_stack, partner_with_chat, script=script)
    visit.sign_in(partner_with_chat["users"][0], then="/settings")
    chat = window_of(visit.page, script=script)
    expect(chat.get_by_label("Your email address")).to_have_count(0)
    chat.get_by_label("Your message").fill(f"How do I add a user? {look} {script}")
    chat.get_by_role("button", name="Send message").click()
    expect(chat.get_by_text("Your message is on its way.")).to_be_visible()
    if script:
        assert visit.findings() == []
