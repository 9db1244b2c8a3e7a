"""The studio's report on a brand colour: where it is used as given, and where in another shade."""

from dataclasses import dataclass
from typing import Literal

from babel.numbers import format_decimal

from app.languages import gettext, locale
from app.services.branding.shades import (
    INK,
    LIGHT,
    TEXT_ON_SOLID,
    WHITE,
    ThemeShades,
    brand_shades,
    contrast,
)

Verdict = Literal["As given", "Shade used", "Dark text"]


@dataclass(frozen=True, slots=True)
class ContrastRow:
    """One use of the colour: ``foreground`` (None for a plain area) on ``background``.

    ``shade`` is the brand's colour among the two, ``ratio`` the lowest contrast of its uses.
    """

    label: str
    shade: str
    foreground: str | None
    background: str
    ratio: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ContrastReport:
    """Four rows, a sentence on the buttons, and the shade to offer if the colour isn't readable."""

    colour: str
    rows: tuple[ContrastRow, ContrastRow, ContrastRow, ContrastRow]
    message: str
    nearest: str | None


def contrast_report(colour: str) -> ContrastReport:
    """Return how readable a brand colour is in the light theme. Raises ValueError for no colour."""
    brand = brand_shades(colour)
    light, brand_colour = brand.light, brand.colour
    surfaces = (LIGHT.page, LIGHT.canvas, LIGHT.sunken, LIGHT.raised, light.subtle)
    return ContrastReport(
        colour=brand_colour,
        rows=(
            ContrastRow(
                gettext("Button text"),
                light.solid,
                light.on,
                light.solid,
                contrast(light.on, light.solid),
                _verdict(brand_colour, light.solid, light.on),
            ),
            ContrastRow(
                gettext("Link on page and tint"),
                light.text,
                light.text,
                light.subtle,
                min(contrast(light.text, surface) for surface in surfaces),
                _verdict(brand_colour, light.text),
            ),
            ContrastRow(
                gettext("Chart on page"),
                light.chart,
                None,
                light.chart,
                contrast(light.chart, LIGHT.page),
                _verdict(brand_colour, light.chart),
            ),
            ContrastRow(
                gettext("Text on large areas"),
                light.panel,
                light.panel_on,
                light.panel,
                contrast(light.panel_on, light.panel),
                _verdict(brand_colour, light.panel, light.panel_on),
            ),
        ),
        message=_contrast_message(brand_colour, light),
        nearest=light.solid if light.solid != brand_colour else None,
    )


def _verdict(brand_colour: str, shade: str, on: str = WHITE) -> Verdict:
    if shade != brand_colour:
        return "Shade used"
    return "Dark text" if on == INK else "As given"


def _contrast_message(brand_colour: str, light: ThemeShades) -> str:
    white = contrast(WHITE, brand_colour)
    reached, needed = _format_ratio(white), _format_decimal(TEXT_ON_SOLID)
    if light.solid != brand_colour:
        return gettext(
            "White on your colour reaches %(reached)s : 1; %(needed)s is needed. Buttons use "
            "%(shade)s, the nearest shade that passes.",
            reached=reached,
            needed=needed,
            shade=light.solid.upper(),
        )
    if light.on == INK:
        return gettext(
            "White on your colour reaches %(reached)s : 1; %(needed)s is needed. Buttons keep your "
            "colour and carry dark text.",
            reached=reached,
            needed=needed,
        )
    return gettext(
        "White on your colour reaches %(reached)s : 1, so buttons use it as it is.",
        reached=reached,
    )


def _format_ratio(ratio: float) -> str:
    """Return one decimal, but never rounded up to a missed target."""
    if round(ratio, 1) >= TEXT_ON_SOLID > ratio:
        ratio = TEXT_ON_SOLID - 0.1
    return _format_decimal(ratio)


def _format_decimal(value: float) -> str:
    return format_decimal(round(value, 1), "0.0", locale=locale())
