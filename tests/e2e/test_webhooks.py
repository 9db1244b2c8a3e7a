"""A webhook from its making to its end: made, paused, failing, fixed, replayed, removed."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import Open
from tests.fixtures.receiver import Receiver
from tests.fixtures.stack import Stack
from tests.fixtures.worker import wait_until

HOST = "127.0.0.1"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver().open() as opened:
        yield opened


def until_shown(page: Page, wanted: Locator) -> None:
    """Reload the page until it is there."""
    for _patience in range(150):
        if wanted.count():
            break
        page.wait_for_timeout(200)
        page.reload()
    expect(wanted).to_be_visible()


def test_a_webhook_is_added_tested_and_removed(
    shared_stack: Stack,
    partner: dict[str, Any],
    open_browser: Open,
    script: bool,
    receiver: Receiver,
) -> None:
    visit = open_browser(shared_stack, partner, script=script)
    page = visit.page
    organization = partner["organizations"][0]
    visit.sign_in(partner["users"][0], then="/api-access/webhooks")
    page.get_by_role("link", name="Add webhook").click()
    page.get_by_label("Organization", exact=True).fill(organization["name"])
    page.get_by_label("Address").fill(receiver.url)
    page.get_by_label("Contacts added").check()
    page.get_by_role("button", name="Add webhook").click()
    assert re.fullmatch(r"whsec_[\w+/]{43}=", page.locator("#secret").inner_text())
    if script:
        assert visit.findings() == []
    page.get_by_role("link", name="Continue").click()

    page.get_by_role("button", name="More actions").click()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Paused by a user.")).to_be_visible()
    if script:
        assert visit.findings() == []
    page.get_by_role("button", name="Resume").click()

    receiver.usual = 500
    page.get_by_role("button", name="Send test event").click()
    expect(page.get_by_text("Test event queued.")).to_be_visible()
    page.get_by_role("link", name="Test event").click()
    until_shown(page, page.get_by_text("I say 500"))
    if script:
        assert visit.findings() == []
    page.get_by_role("link", name=HOST).click()
    expect(page.get_by_text("Retrying", exact=True).first).to_be_visible()

    receiver.usual = 204
    page.get_by_role("link", name="Test event").click()
    again = page.get_by_role("button", name="Send again")
    until_shown(page, again)
    taken = len(receiver.received)
    again.click()
    expect(page.get_by_text("It will be sent again with its original ID.")).to_be_visible()
    wait_until(lambda: len(receiver.received) > taken)
    assert len({sent.id for sent in receiver.received}) == 1
    if script:
        assert visit.findings() == []
    page.get_by_role("link", name=HOST).click()

    page.get_by_role("link", name="Remove…").click()
    where = page.get_by_role("dialog") if script else page.locator("main")
    where.get_by_role("button", name="Remove webhook").click()
    expect(page.get_by_text(f"The webhook to {HOST} was removed.")).to_be_visible()
