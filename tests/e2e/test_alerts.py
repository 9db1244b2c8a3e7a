"""A rule that opens alerts is made, and what happened is read."""

from typing import Any

from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.fixtures.stack import Stack


def test_a_rule_is_made_and_the_open_alert_acknowledged(
    live: Stack, partner: dict[str, Any], open_browser: Open, script: bool
) -> None:
    visit = open_browser(live, partner, script=script)
    visit.sign_in(partner["users"][0], then="/alerts")
    page = visit.page
    titles = page.get_by_text("An organization has no calls for 90 days")
    before = titles.count()  # of other looks
    page.get_by_role("link", name="Add rule").click()
    page.get_by_role("link", name="No calls").click()
    page.get_by_label("No calls for").fill("90")
    page.get_by_role("button", name="Add rule").click()
    expect(titles).to_have_count(before + 1)
    if script:
        assert visit.findings() == []
    acknowledge = page.get_by_role("button", name="Acknowledge")
    if acknowledge.count():
        acknowledge.first.click()
        expect(page.get_by_text("Acknowledged.")).to_be_visible()
    page.get_by_role("link", name="Notifications").first.click()
    expect(page.get_by_role("heading", level=1, name="Notifications")).to_be_visible()
    read = page.get_by_role("button", name="Mark all as read")
    if read.count():
        read.click()
    expect(page.get_by_role("link", name="Notifications", exact=True).first).to_be_visible()


def test_a_phone_shows_the_whole_title_of_an_alert(
    live: Stack, partner: dict[str, Any], open_browser: Open
) -> None:
    visit = open_browser(live, partner)
    visit.sign_in(partner["users"][0], then="/alerts")
    page = visit.page
    titles = page.locator("td.cell-name-wide > .name")
    expect(titles.first).to_be_visible()
    page.set_viewport_size({"width": 360, "height": 740})
    longest = "Castell Property Management: 1 failed call in 7 days (limit 0) " * 2
    titles.evaluate_all("(all, words) => all.forEach(e => { e.textContent = words; })", longest)
    cut = titles.evaluate_all(
        "all => all.filter(e => e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight)"
        ".length"
    )
    assert cut == 0
