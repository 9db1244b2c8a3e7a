"""A partner's own colour and logo: tried out, published, and seen wherever the partner is seen."""

import io
import re
from typing import Any

import pytest
from PIL import Image, ImageDraw
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import Open
from tests.e2e.watched import Look, Visit
from tests.fixtures.stack import Stack, Stacks

GREEN, GREEN_RGB = "#0b6e4f", "rgb(11, 110, 79)"
YELLOW, YELLOW_RGB = "#ffd400", "rgb(255, 212, 0)"
WHITE, INK = "rgb(255, 255, 255)", "rgb(30, 27, 24)"


@pytest.fixture
def stack(stacks: Stacks, backend: str) -> Stack:
    """A stack of these tests alone: a brand is on every page of its partner."""
    return stacks.shared(backend)


@pytest.fixture
def partner(stack: Stack, look: Look) -> dict[str, Any]:
    found: dict[str, Any] = stack.demo["partners"][look.brand]
    return found


@pytest.fixture
def studio(stack: Stack, partner: dict[str, Any], open_browser: Open, script: bool) -> Visit:
    """The branding studio before its partner's administrator."""
    visit = open_browser(stack, partner, script=script)
    visit.sign_in(partner["users"][0], then="/branding")
    expect(visit.page.get_by_role("heading", level=1, name="Branding")).to_be_visible()
    return visit


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
