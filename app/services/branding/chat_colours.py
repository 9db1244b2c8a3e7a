"""The chat window's colours: those that the partner chose, otherwise those that follow from the
brand's colour.

``chatTemplateColors`` of the contract is an object without further rules; the window uses the four
names of `PARTS` and ignores the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any

from app.services.branding.shades import DARK, INK, LIGHT, brand_shades, readable
from app.validation.colours import is_colour, to_hex

PARTS = ("header", "visitor", "assistant", "background")
"""The head and the button, visitors' messages, answers, and the background."""

INK_IN_THE_DARK = "#eeece9"
NONE = "x"


@dataclass(frozen=True, slots=True)
class ColourArea:
    """A background and its text, in the light and in the dark theme, each ``#rrggbb``."""

    light: tuple[str, str]
    dark: tuple[str, str]


@dataclass(frozen=True, slots=True)
class ChatSheet:
    """``address`` names the colours, ``digest`` is that of the content; ``css`` is served."""

    address: str
    digest: str
    css: str


def window_colours(colours: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the partner's colours for the parts of the window, each ``#rrggbb``."""
    stored = colours or {}
    return {part: to_hex(stored[part]) for part in PARTS if is_colour(str(stored.get(part, "")))}


def areas(colour: str, colours: Mapping[str, Any] | None) -> dict[str, ColourArea]:
    """Return every part of the window with readable text. Raises ValueError if ``colour`` isn't a
    colour."""
    brand = brand_shades(colour)
    colour_areas = {
        "header": ColourArea(
            (brand.light.panel, brand.light.panel_on), (brand.dark.panel, brand.dark.panel_on)
        ),
        "visitor": ColourArea(
            (brand.light.solid, brand.light.on), (brand.dark.solid, brand.dark.on)
        ),
        "assistant": ColourArea((LIGHT.raised, INK), (DARK.raised, INK_IN_THE_DARK)),
        "background": ColourArea((LIGHT.canvas, INK), (DARK.canvas, INK_IN_THE_DARK)),
    }
    for part, part_colour in window_colours(colours).items():
        pair = readable(part_colour)
        colour_areas[part] = ColourArea(pair, pair)
    return colour_areas


def chat_sheet(colour: str, colours: Mapping[str, Any] | None) -> ChatSheet:
    """Return the style sheet of the chat window. Raises ValueError if ``colour`` isn't a colour."""
    part_colours = window_colours(colours)
    codes = [to_hex(colour), *(part_colours.get(part, NONE) for part in PARTS)]
    return _create_sheet(".".join(word.lstrip("#") for word in codes))


def sheet_at(address: str) -> ChatSheet:
    """Return the sheet that a URL names, so that it can be served without a database. Raises
    ValueError for any other URL."""
    segments = address.split(".")
    if len(segments) != 1 + len(PARTS):
        message = f"not the address of a chat window's colours: {address!r}"
        raise ValueError(message)
    return _create_sheet(address)


@lru_cache(maxsize=512)
def _create_sheet(address: str) -> ChatSheet:
    brand, *codes = address.split(".")
    part_colours = {
        part: f"#{word}" for part, word in zip(PARTS, codes, strict=True) if word != NONE
    }
    if not all(is_colour(value) for value in part_colours.values()):
        message = f"not the address of a chat window's colours: {address!r}"
        raise ValueError(message)
    lines = []
    for part, area in areas(f"#{brand}", part_colours).items():
        lines.append(f"  --chat-{part}: light-dark({area.light[0]}, {area.dark[0]});")
        lines.append(f"  --chat-{part}-on: light-dark({area.light[1]}, {area.dark[1]});")
    css = ":root {\n" + "\n".join(lines) + "\n}\n"
    return ChatSheet(address, sha256(css.encode()).hexdigest()[:16], css)
