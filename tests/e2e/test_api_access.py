"""A key from its making to its end: shown once, used, seen among requests, rotated, revoked."""

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Open
from tests.e2e.scripts import ask
from tests.fixtures.stack import Stack


def works(stack: Stack, secret: str) -> bool:
    """Whether a harmless request with the key is answered."""
    try:
        ask(stack, "GET", "/api/v1/agents", key=secret)
    except RuntimeError:
        return False
    return True


def press(page: Page, words: str, *, script: bool) -> None:
    """An act that asks back: a dialog with script, a page without."""
    page.get_by_role("link", name=f"{words}…").click()
    where = page.get_by_role("dialog") if script else page.locator("main")
    where.get_by_role("button", name=f"{words} key").click()


def test_a_key_is_created_used_and_revoked(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    visit = open_browser(shared_stack, partner, script=script)
    page = visit.page
    organization = partner["organizations"][0]
    visit.sign_in(partner["users"][0], then="/api-access")
    page.get_by_role("link", name="Create key").click()
    page.get_by_label("Organization").fill(organization["name"])
    page.get_by_label("Name").fill("CRM nightly sync")
    page.get_by_label("Live").check()
    page.get_by_label("Write contacts").check()
    page.get_by_role("button", name="Create key").click()
    secret = page.locator("#secret").inner_text()
    assert re.fullmatch(r"ppk_live_\w{16}_\w{49}", secret)
    assert secret not in page.url
    if script:
        assert visit.findings() == []
    assert works(shared_stack, secret)

    page.get_by_role("link", name="Continue").click()
    expect(page.get_by_role("heading", level=1, name="CRM nightly sync")).to_be_visible()
    assert secret not in page.content()
    row = page.get_by_role("row").filter(has_text="/api/v1/agents")
    for _patience in range(50):
        if row.count():
            break
        page.wait_for_timeout(200)
        page.reload()
    expect(row).to_contain_text("200 OK")
    if script:
        assert visit.findings() == []

    page.get_by_role("link", name="Rotate key").click()
    page.get_by_label("Old one stops working").select_option(label="After 1 day")
    page.get_by_role("button", name="Rotate key").click()
    rotated = page.locator("#secret").inner_text()
    assert works(shared_stack, secret)
    assert works(shared_stack, rotated)

    page.get_by_role("link", name="Continue").click()
    press(page, "Revoke", script=script)
    expect(page.get_by_text("It no longer works.")).to_be_visible()
    assert works(shared_stack, secret)
    assert not works(shared_stack, rotated)
    page.goto("/api-access")
    expect(page.get_by_text("Works until").first).to_be_visible()
    if script:
        assert visit.findings() == []


def test_a_secret_that_the_browser_may_not_copy_is_selected(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit = open_browser(shared_stack, partner)
    page = visit.page
    page.add_init_script(
        "navigator.clipboard.writeText = () => Promise.reject(new DOMException('denied'))"
    )
    visit.sign_in(partner["users"][0], then="/api-access")
    page.get_by_role("link", name="Create key").click()
    page.get_by_label("Organization").fill(partner["organizations"][0]["name"])
    page.get_by_label("Name").fill("Copied by hand")
    page.get_by_label("Write contacts").check()
    page.get_by_role("button", name="Create key").click()
    page.get_by_role("button", name="Copy key").click()
    expect(page.get_by_role("status").filter(has_text="press Ctrl+C")).to_be_visible()
    assert page.evaluate("getSelection().toString()") == page.locator("#secret").inner_text()
