"""A partner's own colour and logo: tried out, published, and seen wherever the partner is seen."""

import io
import re
from typing import Any

import pytest
from PIL import Image, ImageDraw
from playwright.sync_api import FrameLocator, Locator, Page, expect

from tests.e2e.conftest import Open
from tests.e2e.visits import Look, Visit
from tests.fixtures.stack import Stack

GREEN, YELLOW = "#0b6e4f", "#ffd400"
WHITE, INK = "rgb(255, 255, 255)", "rgb(30, 27, 24)"
BUTTONS = {
    (GREEN, "light"): ("rgb(11, 110, 79)", WHITE),
    (GREEN, "dark"): ("rgb(18, 114, 82)", WHITE),
    (YELLOW, "light"): ("rgb(255, 212, 0)", INK),
    (YELLOW, "dark"): ("rgb(255, 212, 0)", INK),
}
"""Ground and text of the primary button: yellow stays yellow, and takes dark text."""


def logo() -> bytes:
    """A wide PNG with a transparent ground, as designers hand them over."""
    picture = Image.new("RGBA", (480, 96), (0, 0, 0, 0))
    draw = ImageDraw.Draw(picture)
    draw.ellipse((4, 4, 92, 92), fill=(11, 110, 79, 255))
    draw.rectangle((120, 36, 470, 60), fill=(60, 60, 60, 255))
    written = io.BytesIO()
    picture.save(written, "PNG")
    return written.getvalue()


def colour_of(button: Locator) -> tuple[str, str]:
    """The ground and the text of a button as the browser paints them."""
    painted: list[str] = button.evaluate(
        "button => [getComputedStyle(button).backgroundColor, getComputedStyle(button).color]"
    )
    return painted[0], painted[1]


def primary(page: Page | FrameLocator) -> Locator:
    return page.locator(".btn-primary").first


def save(page: Page) -> None:
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_text("Saved in the draft")).to_be_visible()


def publish(page: Page) -> None:
    page.get_by_role("button", name="Review changes").click()
    page.get_by_role("button", name=re.compile(r"Publish version \d+")).click()
    expect(page.get_by_text(re.compile(r"Version \d+ is published"))).to_be_visible()


def look_of(page: Page) -> tuple[tuple[str, str], str | None, int]:
    """Button, style sheet and number of logos of the partner's sign-in page."""
    sheet = page.locator("link[rel=stylesheet][href*=brand]").get_attribute("href")
    return colour_of(primary(page)), sheet, page.locator("header img").count()


def test_a_published_colour_and_logo_are_on_the_next_page_and_on_the_sign_in_page(
    shared_stack: Stack,
    partner: dict[str, Any],
    studio: Visit,
    open_browser: Open,
    look: Look,
    script: bool,
) -> None:
    page = studio.page
    stranger, customer = (
        open_browser(shared_stack, other_than(shared_stack, partner)),
        open_browser(shared_stack, partner),
    )
    stranger.page.goto(f"/p/{stranger.slug}/sign-in")
    others = look_of(stranger.page)
    customer.page.goto(f"/p/{customer.slug}/sign-in")
    as_before = look_of(customer.page)

    page.get_by_label("Colour", exact=True).first.fill(GREEN)
    save(page)
    page.get_by_label("Logo", exact=True).set_input_files(
        {"name": "logo.png", "mimeType": "image/png", "buffer": logo()}
    )
    if not script:
        page.get_by_role("button", name="Upload logo").click()
    expect(page.get_by_alt_text("Your logo")).to_be_visible()
    customer.page.reload()
    assert look_of(customer.page) == as_before
    publish(page)

    page.goto("/")
    assert colour_of(primary(page)) == BUTTONS[GREEN, look.scheme]
    expect_picture(page.locator(".logo img:visible").first)
    customer.page.reload()
    button, sheet, logos = look_of(customer.page)
    assert (button, logos) == (BUTTONS[GREEN, look.scheme], 1)
    assert sheet != as_before[1]
    expect_picture(customer.page.locator("header img"))
    assert customer.findings() == []
    stranger.page.reload()
    assert look_of(stranger.page) == others


def test_a_yellow_brand_gets_dark_text_on_its_buttons(
    studio: Visit, look: Look, script: bool
) -> None:
    page = studio.page
    page.get_by_label("Colour", exact=True).first.fill(YELLOW)
    save(page)
    publish(page)
    page.goto("/")
    assert colour_of(primary(page)) == BUTTONS[YELLOW, look.scheme]
    if script:
        assert studio.findings() == []


@pytest.mark.parametrize("script", [True])
def test_the_preview_follows_what_is_typed(studio: Visit) -> None:
    page = studio.page
    button = primary(page.frame_locator("iframe[title='Preview: Sign in']"))
    expect(button).to_be_visible()
    assert page.evaluate("scrollY") == 0
    page.get_by_label("Colour", exact=True).first.fill(GREEN)
    expect(button).to_have_css("background-color", BUTTONS[GREEN, "light"][0])
    expect(page.get_by_role("button", name="Review changes")).to_be_visible()
    expect(page.get_by_text(re.compile(r"Draft: \d+ change"))).to_be_visible()
    page.get_by_label("Colour", exact=True).first.fill("#ff")
    page.wait_for_timeout(600)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    page.get_by_label("Colour", exact=True).first.fill(YELLOW)
    expect(button).to_have_css("background-color", BUTTONS[YELLOW, "light"][0])
    assert studio.findings() == []
    page.get_by_role("link", name="Discard draft…").click()
    page.get_by_role("button", name="Discard draft").click()
    expect(page.get_by_text("The draft is discarded")).to_be_visible()


def test_an_invalid_colour_is_refused_at_its_field_and_the_form_keeps_its_values(
    studio: Visit, script: bool
) -> None:
    page = studio.page
    page.get_by_label("Product name").fill("Another name")
    colour = page.get_by_label("Colour", exact=True).first
    colour.fill("kind of green")
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_role("alert")).to_contain_text("1 thing needs changing")
    expect(page.get_by_role("alert").get_by_role("link")).to_have_attribute("href", "#colour")
    words = page.get_by_role("alert").get_by_role("link").inner_text().removeprefix("Colour: ")
    expect(colour).to_have_accessible_description(re.compile(re.escape(words)))
    expect(colour).to_have_value("kind of green")
    expect(page.get_by_label("Product name")).to_have_value("Another name")
    if script:
        assert studio.findings() == []
        colour.fill("#1d6b4f")
        expect(page.get_by_role("alert")).to_have_count(0)
        expect(colour).not_to_have_attribute("aria-invalid", "true")


def test_a_file_that_is_no_picture_is_refused_at_its_field(studio: Visit, script: bool) -> None:
    page = studio.page
    page.get_by_label("Logo", exact=True).set_input_files(
        {"name": "logo.png", "mimeType": "image/png", "buffer": b"<svg onload=alert(1)>"}
    )
    if not script:
        page.get_by_role("button", name="Upload logo").click()
        expect(page.get_by_role("alert")).to_contain_text("1 thing needs changing")
    expect(page.get_by_label("Logo", exact=True)).to_have_attribute("aria-invalid", "true")
    if script:
        assert studio.findings() == []


def other_than(stack: Stack, partner: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(p for p in stack.demo["partners"] if p["id"] != partner["id"])
    return found


def expect_picture(picture: Locator) -> None:
    """The picture is there and has been read."""
    expect(picture).to_be_visible()
    assert picture.evaluate("picture => picture.decode().then(() => picture.naturalWidth)") > 0
