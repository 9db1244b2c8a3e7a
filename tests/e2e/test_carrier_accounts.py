"""A user brings a SIP trunk for an organization, finds that it isn't there, and removes it."""

import socket
from contextlib import closing
from typing import Any

from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.fixtures.stack import Stack


def test_a_trunk_is_saved_tested_and_removed(
    shared_stack: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    name = partner["organizations"][0]["name"]
    visit = open_browser(shared_stack, partner, script=script)
    page = visit.page
    visit.sign_in(partner["users"][0], then="/carriers")
    page.get_by_role("link", name="Carrier accounts").click()
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("link", name="Add for one organization").click()
    page.get_by_role("searchbox", name="Name or referral code").fill(name)
    page.get_by_role("searchbox", name="Name or referral code").press("Enter")
    page.get_by_role("listitem").filter(has_text=name).get_by_role("link").click()
    page.get_by_role("link", name="SIP trunk").click()

    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as probe:
        probe.bind(("127.0.0.1", 0))
        trunk = f"127.0.0.1:{probe.getsockname()[1]}"
    page.get_by_label("Trunk").fill("sip:trunk.example.com")
    page.get_by_role("button", name="Test and save").click()
    expect(page.locator("#address-error")).to_contain_text("Enter host or host:port")
    found = visit.findings() if script else []
    page.get_by_label("Trunk").fill(trunk)
    page.get_by_role("button", name="Test and save").click()
    expect(page.get_by_text(f"{trunk} is saved and tested now.")).to_be_visible()
    if script:
        page.go_back()
        expect(page.get_by_label("Trunk")).to_have_value(trunk)
        page.go_forward()
    while not script and page.get_by_role("link", name="Refresh").count():
        page.get_by_role("link", name="Refresh").click()
    expect(page.get_by_text(f"{trunk} over UDP refused the connection.")).to_be_visible()
    page.get_by_role("link", name="Use it anyway…").click()
    page.get_by_role("button", name="Use account").click()
    expect(page.get_by_text(f"Live calls use {trunk} from now on.")).to_be_visible()

    page.get_by_role("link", name=f"SIP trunk {trunk}").click()
    page.get_by_role("link", name="Remove…").click()
    if script:
        page.keyboard.press("Escape")
        expect(page.get_by_role("link", name="Remove…")).to_be_focused()
        page.keyboard.press("Enter")
    page.get_by_role("button", name="Remove account").click()
    expect(page.get_by_text(f"The account {trunk} was removed.")).to_be_visible()
    assert found == []
