"""The studio in use: links in their order, and the way back to an earlier brand."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.polling import SLOW_MS
from tests.e2e.test_branding import publish, save
from tests.e2e.visits import Look, Visit

NAMES = ("Help", "Status", "Contact")


def clear_links(page: Page) -> None:
    while (remove := page.get_by_role("button", name=re.compile("^Remove (?!logo|fav)"))).count():
        before = remove.count()
        remove.first.click()
        expect(remove).to_have_count(before - 1)


def add_links(page: Page, *, script: bool) -> None:
    """Three header links, one after the other: a spare row is at the end of the list."""
    for place, name in enumerate(NAMES):
        page.locator(f"#header_links-{place}-label").fill(name)
        page.locator(f"#header_links-{place}-url").fill(f"https://{name.lower()}.example.com/")
        if not script:
            save(page)
    if script:
        expect(page.get_by_text(re.compile(r"Draft: \d+ change"))).to_be_visible()
        saved_by_typing(page)


def saved_by_typing(page: Page) -> None:
    """The preview waits 300 ms for the next letter, then the draft is saved."""
    page.wait_for_timeout(400)
    page.wait_for_load_state("networkidle", timeout=SLOW_MS)


def order(page: Page) -> list[str]:
    fields = page.locator("#header_links input[id$=-label]")
    return [value for value in (field.input_value() for field in fields.all()) if value]


def expect_order(page: Page, *names: str) -> None:
    for place, name in enumerate(names):
        expect(page.locator(f"#header_links-{place}-label")).to_have_value(name)
    assert order(page) == list(names)


@pytest.fixture
def studio_with_links(studio: Visit, script: bool) -> Page:
    page = studio.page
    clear_links(page)
    add_links(page, script=script)
    expect_order(page, *NAMES)
    return page


def test_links_are_put_in_order_by_their_buttons(
    studio: Visit, studio_with_links: Page, script: bool
) -> None:
    page = studio_with_links
    page.get_by_role("button", name="Move Contact up").press("Enter")
    expect_order(page, "Help", "Contact", "Status")
    if script:
        expect(page.locator("#order-status")).to_have_text("Contact is now 2 of 3.")
        expect(page.get_by_role("button", name="Move Contact up")).to_be_focused()
        saved_by_typing(page)
    page.get_by_role("button", name="Remove Help").click()
    expect_order(page, "Contact", "Status")
    if script:
        saved_by_typing(page)
        assert studio.findings() == []
    publish(page)
    page.goto("/branding")
    expect_order(page, "Contact", "Status")


@pytest.mark.parametrize("script", [True], ids=["script"])
def test_links_are_put_in_order_by_dragging(
    studio: Visit, studio_with_links: Page, look: Look
) -> None:
    page = studio_with_links
    if look.width < 860:
        pytest.skip("narrow windows offer the buttons alone")
    rows = page.locator("#header_links [data-order-row]")
    grip = rows.nth(2).locator("[data-grip]")
    rows.nth(0).scroll_into_view_if_needed()
    start, goal = grip.bounding_box(), rows.nth(0).bounding_box()
    assert start
    assert goal
    page.mouse.move(start["x"] + 8, start["y"] + 8)
    page.mouse.down()
    page.mouse.move(start["x"] + 8, goal["y"] + goal["height"] + 4, steps=4)
    page.mouse.move(start["x"] + 8, goal["y"] + 2, steps=4)
    page.mouse.up()
    expect_order(page, "Contact", "Help", "Status")
    expect(page.locator("#order-status")).to_have_text("Contact is now 1 of 3.")
    saved_by_typing(page)
    page.reload()
    expect_order(page, "Contact", "Help", "Status")
    publish(page)


def test_an_earlier_brand_is_viewed_and_restored(studio: Visit, script: bool) -> None:
    page = studio.page
    for name in ("First name", "A slip"):
        page.get_by_label("Product name").fill(name)
        save(page)
        publish(page)
    page.locator("#content").get_by_role("link", name="History", exact=True).first.click()
    expect(page).to_have_title(re.compile("History of your brand"))
    if script:
        assert studio.findings() == []
    latest = page.get_by_role("link", name=re.compile(r"^Version \d+$")).first
    latest.click()
    row = page.get_by_role("row", name=re.compile("Product name"))
    expect(row.get_by_role("cell").nth(0)).to_have_text("First name")
    expect(row.get_by_role("cell").nth(1)).to_have_text("A slip")
    if script:
        assert studio.findings() == []
    page.go_back()
    page.get_by_role("link", name=re.compile(r"^Version \d+$")).nth(1).click()
    page.get_by_role("link", name="With current").click()
    expect(page.get_by_role("row", name=re.compile("Product name"))).to_contain_text("A slip")
    page.get_by_role("link", name=re.compile("^Roll back to version")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(r"Roll back to version"))
    expect(page.get_by_role("row", name=re.compile("Product name"))).to_contain_text("First name")
    page.get_by_role("button", name="Roll back and publish").click()
    expect(page.get_by_text(re.compile(r"It is version \d+ again"))).to_be_visible()
    expect(page.get_by_label("Product name")).to_have_value("First name")


def test_a_draft_is_discarded_after_asking(studio: Visit, script: bool) -> None:
    page = studio.page
    before = page.get_by_label("Product name").input_value()
    page.get_by_label("Product name").fill("Not this one")
    save(page)
    page.get_by_role("link", name="Discard draft…").click()
    expect(page.get_by_role("heading", name="Discard the draft?")).to_be_visible()
    page.get_by_role("button", name="Discard draft").click()
    expect(page.get_by_text("The draft is discarded")).to_be_visible()
    expect(page.get_by_label("Product name")).to_have_value(before)


@pytest.mark.parametrize("script", [True], ids=["script"])
def test_a_colour_is_chosen_in_a_picker_and_checked_while_it_is_typed(studio: Visit) -> None:
    page = studio.page
    colour, picker = page.locator("#colour"), page.get_by_label("Colour: choose").first
    picker.fill("#0b6e4f")
    expect(colour).to_have_value("#0b6e4f")
    report = page.locator("#studio-report")
    expect(report).to_contain_text("White on your colour reaches 6.3 : 1")
    colour.fill("#0b6e4")
    error = page.locator("#colour-live")
    expect(error).to_contain_text("Unknown colour.")
    expect(picker).to_have_value("#0b6e4f")
    assert studio.findings() == []
    colour.fill("gold")
    expect(error).to_be_empty()
    expect(picker).to_have_value("#ffd700")
    publish(page)
