"""The studio's report on a brand colour: where it is used as given, and where a shade of it."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from app.services.branding.shades import (
    INK,
    LIGHT,
    TEXT_ON_SOLID,
    WHITE,
    Shades,
    brand_shades,
    contrast,
)

Verdict = Literal["As given", "Shade used", "Dark text"]


@dataclass(frozen=True, slots=True)
class Row:
    """One use of the colour: ``foreground`` (None for a plain area) on ``background``.

    ``shade`` is the brand's part of the two, ``ratio`` the lowest contrast of its uses.
    """

    label: str
    shade: str
    foreground: str | None
    background: str
    ratio: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ContrastReport:
    """Four rows, a sentence on the buttons, and the shade to offer if the colour fails."""

    colour: str
    rows: tuple[Row, Row, Row, Row]
    sentence: str
    nearest: str | None


@lru_cache(maxsize=512)
def contrast_report(colour: str) -> ContrastReport:
    """Return how readable a brand colour is in the light theme. Raises ValueError for no colour."""
    brand = brand_shades(colour)
    light, given = brand.light, brand.colour
    surfaces = (LIGHT.page, LIGHT.canvas, LIGHT.sunken, LIGHT.raised, light.subtle)
    return ContrastReport(
        colour=given,
        rows=(
            Row(
                "Button text",
                light.solid,
                light.on,
                light.solid,
                contrast(light.on, light.solid),
                _verdict(given, light.solid, light.on),
            ),
            Row(
                "Link on page and tint",
                light.text,
                light.text,
                light.subtle,
                min(contrast(light.text, surface) for surface in surfaces),
                _verdict(given, light.text),
            ),
            Row(
                "Chart on page",
                light.chart,
                None,
                light.chart,
                contrast(light.chart, LIGHT.page),
                _verdict(given, light.chart),
            ),
            Row(
                "Text on large areas",
                light.panel,
                light.panel_on,
                light.panel,
                contrast(light.panel_on, light.panel),
                _verdict(given, light.panel, light.panel_on),
            ),
        ),
        sentence=_sentence(given, light),
        nearest=light.solid if light.solid != given else None,
    )


def _verdict(given: str, shade: str, on: str = WHITE) -> Verdict:
    if shade != given:
        return "Shade used"
    return "Dark text" if on == INK else "As given"


def _sentence(given: str, light: Shades) -> str:
    white = contrast(WHITE, given)
    reached = f"White on your colour reaches {_shown(white)} : 1; {TEXT_ON_SOLID} is needed."
    if light.solid != given:
        return f"{reached} Buttons use {light.solid.upper()}, the nearest shade that passes."
    if light.on == INK:
        return f"{reached} Buttons keep your colour and carry dark text."
    return f"White on your colour reaches {_shown(white)} : 1, so buttons use it as it is."


def _shown(ratio: float) -> str:
    """One decimal, but never rounded up to a target that was missed."""
    if round(ratio, 1) >= TEXT_ON_SOLID > ratio:
        ratio = TEXT_ON_SOLID - 0.1
    return f"{ratio:.1f}"
