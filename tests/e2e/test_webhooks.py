"""A webhook from its making to its end: made, failing, paused, resumed, removed."""

import re
from typing import Any

from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.fixtures.stack import Stack

URL = "https://localhost:9/hooks"
"""A name that leads to no public address: nothing is ever sent to it."""


def test_a_webhook_from_its_making_to_its_end(
    live: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    visit = open_browser(live, partner, script=script)
    page = visit.page
    organization = partner["organizations"][0]
    visit.sign_in(partner["users"][0], then="/api-access/webhooks")
    page.get_by_role("link", name="Create webhook").click()
    page.get_by_role("listitem").filter(has_text=organization["name"]).get_by_role("link").click()
    page.get_by_label("Address").fill(URL)
    page.get_by_label("Contacts added").check()
    page.get_by_role("button", name="Create webhook").click()
    assert re.fullmatch(r"whsec_[\w+/]{43}=", page.locator("#secret").inner_text())
    if script:
        assert visit.findings() == []
    page.get_by_role("link", name="I have stored the secret").click()

    page.get_by_role("button", name="Send test event").click()
    expect(page.get_by_text("A test event is on its way.")).to_be_visible()
    page.get_by_role("link", name="Test event").click()
    refused = page.get_by_text("leads to an address that is not public")
    for _patience in range(50):
        if refused.count():
            break
        page.wait_for_timeout(200)
        page.reload()
    expect(refused).to_be_visible()
    if script:
        assert visit.findings() == []

    page.get_by_role("link", name="localhost").click()
    expect(page.get_by_text("Failing", exact=True)).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Somebody paused it.")).to_be_visible()
    if script:
        assert visit.findings() == []
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Send test event")).to_be_visible()

    page.get_by_role("link", name="Remove…").click()
    where = page.get_by_role("dialog") if script else page.locator("main")
    where.get_by_role("button", name="Remove webhook").click()
    expect(page.get_by_text("The webhook to localhost was removed.")).to_be_visible()
