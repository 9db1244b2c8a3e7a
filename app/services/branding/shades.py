"""From one brand colour to all shades, light and dark, each readable where it is used.

Shades are found in OKLCH by changing the lightness in steps of 0.004; contrast is that of WCAG 2.1
on the rounded hexadecimal value, as a screen shows it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from app.validation.colours import to_hex

if TYPE_CHECKING:
    from coloraide import Color

WHITE = "#ffffff"
INK = "#1e1b18"
STEP = 0.004
TEXT_ON_SOLID = 4.5
TEXT_ON_SURFACES = 4.6
EDGE = 3.0
CHART = 3.1
PANEL_WITHOUT_HAIRLINE = 1.3
GREY_BELOW = 0.02
VERY_DARK = 0.28


class Oklch(NamedTuple):
    """A colour by lightness 0 to 1, chroma and hue in degrees."""

    lightness: float
    chroma: float
    hue: float


@dataclass(frozen=True, slots=True)
class ThemeSurfaces:
    """The fixed surfaces of a theme; the brand's own tint is added where text is checked."""

    page: str
    canvas: str
    sunken: str
    raised: str


LIGHT = ThemeSurfaces(page="#ffffff", canvas="#f9f7f4", sunken="#f3f1ed", raised="#ffffff")
DARK = ThemeSurfaces(page="#181715", canvas="#12100e", sunken="#22201d", raised="#201e1b")


@dataclass(frozen=True, slots=True)
class ThemeShades:
    """The named shades of one theme, each ``#rrggbb``; the field names are the CSS names."""

    solid: str
    on: str
    hover: str
    press: str
    edge: str
    subtle: str
    subtle_edge: str
    text: str
    text_hover: str
    chart: str
    chart_2: str
    panel: str
    panel_on: str
    panel_2: str


@dataclass(frozen=True, slots=True)
class BrandShades:
    """All shades of one brand colour; ``grey`` brands keep their links underlined."""

    colour: str
    grey: bool
    light: ThemeShades
    dark: ThemeShades


def contrast(first: str, second: str) -> float:
    """Return the WCAG 2.1 contrast of two ``#rrggbb`` colours, 1 to 21."""
    darker, lighter = sorted((_luminance(first), _luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


@lru_cache(maxsize=512)
def brand_shades(colour: str) -> BrandShades:
    """Return every shade of a brand colour. Raises ValueError for no colour; some 10 ms
    uncached."""
    brand = to_hex(colour)
    return BrandShades(
        colour=brand,
        grey=_to_oklch(brand).chroma < GREY_BELOW,
        light=_theme(brand, LIGHT, dark=False),
        dark=_theme(brand, DARK, dark=True),
    )


def stylesheet(colour: str) -> str:
    """Return the style sheet of a brand colour: only custom properties ``--brand-*``."""
    brand = brand_shades(colour)
    lines = [f"  --brand: {brand.colour};"]
    for name in ThemeShades.__dataclass_fields__:
        light, dark = getattr(brand.light, name), getattr(brand.dark, name)
        lines.append(f"  --brand-{name.replace('_', '-')}: light-dark({light}, {dark});")
    light_line = _hairline(brand.light.panel, LIGHT.page, "#e3e0dc")
    dark_line = _hairline(brand.dark.panel, DARK.page, "#33312e")
    lines.append(f"  --brand-panel-line: light-dark({light_line}, {dark_line});")
    lines.append(f"  --brand-link-line: {'underline' if brand.grey else 'none'};")
    return ":root {\n" + "\n".join(lines) + "\n}\n"


@dataclass(frozen=True, slots=True)
class BrandStylesheet:
    """``colour`` as ``#rrggbb``, ``digest`` of 16 hexadecimal digits, ``css`` as served."""

    colour: str
    digest: str
    css: str


@lru_cache(maxsize=512)
def sheet_for(colour: str) -> BrandStylesheet:
    """Return the sheet of a brand colour; the digest changes with the colour and the shades.

    Raises ValueError for no colour.
    """
    css = stylesheet(colour)
    return BrandStylesheet(brand_shades(colour).colour, sha256(css.encode()).hexdigest()[:16], css)


def readable(colour: str) -> tuple[str, str]:
    """Return an area of that colour and its text: as given if white or ink reaches 4.5, otherwise
    the nearest shade that does. Raises ValueError for no colour."""
    hex_colour = to_hex(colour)
    return _panel_shades(hex_colour, *_solid_shades(hex_colour))


def _theme(brand: str, surfaces: ThemeSurfaces, *, dark: bool) -> ThemeShades:
    base = _to_oklch(brand)
    page = surfaces.page
    solid, on = _solid_shades(brand)
    if dark and contrast(solid, page) < EDGE:
        solid, on = _solid_in_the_dark(solid, page)
    hover, press = _press_shades(solid, on)
    subtle, subtle_edge = _tints(base, dark=dark)
    panel, panel_on = _panel_shades(brand, solid, on)
    text = _text_shade(base, [*_all_surfaces(surfaces), subtle], dark=dark)
    text_hover = _shift_lightness(_to_oklch(text), 0.06 if dark else -0.07)
    chart_from = base._replace(lightness=max(base.lightness, 0.62)) if dark else base
    return ThemeShades(
        solid=solid,
        on=on,
        hover=hover,
        press=press,
        edge=_first_passing(_to_oklch(solid), dark, lambda shade: contrast(shade, page) >= EDGE),
        subtle=subtle,
        subtle_edge=subtle_edge,
        text=text,
        text_hover=text_hover,
        chart=_first_passing(
            chart_from,
            dark,
            lambda shade: min(contrast(shade, page), contrast(shade, surfaces.raised)) >= CHART,
        ),
        chart_2=_oklch_to_hex(
            Oklch(0.42 if dark else 0.86, min(0.45 * base.chroma, 0.07), base.hue)
        ),
        panel=panel,
        panel_on=panel_on,
        panel_2=_rings(panel, panel_on),
    )


def _solid_shades(brand: str) -> tuple[str, str]:
    """Return the button and its text: white if the colour nearly allows it, as readers expect."""
    white = contrast(WHITE, brand)
    if white >= TEXT_ON_SOLID:
        return brand, WHITE
    if white >= EDGE:
        darker = _first_passing(
            _to_oklch(brand), False, lambda shade: contrast(WHITE, shade) >= TEXT_ON_SOLID
        )
        return darker, WHITE
    return brand, INK


def _solid_in_the_dark(solid: str, page: str) -> tuple[str, str]:
    raised = _first_passing(_to_oklch(solid), True, lambda shade: contrast(shade, page) >= EDGE)
    on = WHITE if contrast(WHITE, raised) >= TEXT_ON_SOLID else INK
    return _first_passing(
        _to_oklch(raised), True, lambda shade: contrast(on, shade) >= TEXT_ON_SOLID
    ), on


def _press_shades(solid: str, on: str) -> tuple[str, str]:
    start = _to_oklch(solid)
    if on == INK:
        steps = (-0.05, -0.10)
    else:
        steps = (0.06, 0.12) if start.lightness <= VERY_DARK else (-0.045, -0.09)
        start = _lighten_black(start)
    hover, press = (_shift_lightness(start, step) for step in steps)
    if min(contrast(on, hover), contrast(on, press)) < TEXT_ON_SOLID:
        hover, press = (_shift_lightness(start, -step) for step in steps)
    return hover, press


def _tints(base: Oklch, *, dark: bool) -> tuple[str, str]:
    chroma, hue = base.chroma, base.hue
    if dark:
        subtle = Oklch(0.285, min(0.38 * chroma, 0.05), hue)
        return _oklch_to_hex(subtle), _oklch_to_hex(Oklch(0.40, min(0.5 * chroma, 0.075), hue))
    subtle = Oklch(0.964, min(0.16 * chroma, 0.016), hue)
    return _oklch_to_hex(subtle), _oklch_to_hex(Oklch(0.89, min(0.3 * chroma, 0.04), hue))


def _text_shade(base: Oklch, surfaces: Sequence[str], *, dark: bool) -> str:
    if dark:
        start = Oklch(max(base.lightness, 0.70), min(base.chroma, 0.15), base.hue)
    else:
        start = base._replace(lightness=min(base.lightness, 0.55))
    return _first_passing(
        start, dark, lambda shade: min(contrast(shade, s) for s in surfaces) >= TEXT_ON_SURFACES
    )


def _panel_shades(brand: str, solid: str, on: str) -> tuple[str, str]:
    for text in (WHITE, INK):
        if contrast(text, brand) >= TEXT_ON_SOLID:
            return brand, text
    return solid, on


def _rings(panel: str, on: str) -> str:
    start = _to_oklch(panel)
    if on == INK:
        return _shift_lightness(start, -0.06)
    return _shift_lightness(_lighten_black(start), 0.06 if start.lightness <= VERY_DARK else -0.05)


def _lighten_black(start: Oklch) -> Oklch:
    """Return black, lightened until a step of lightness is visible."""
    return start._replace(lightness=max(start.lightness, 0.16))


def _hairline(panel: str, page: str, line: str) -> str:
    return line if contrast(panel, page) < PANEL_WITHOUT_HAIRLINE else "transparent"


def _first_passing(start: Oklch, upwards: bool, passes: Callable[[str], bool]) -> str:
    """Return the first shade that passes, starting at ``start``; white or black if none passes
    before."""
    step, end = (STEP, 1.0) if upwards else (-STEP, 0.0)
    lightness = start.lightness
    shade = _oklch_to_hex(start)
    while not passes(shade) and lightness != end:
        lightness = min(max(lightness + step, 0.0), 1.0)
        shade = _oklch_to_hex(start._replace(lightness=lightness))
    return shade


def _shift_lightness(start: Oklch, step: float) -> str:
    return _oklch_to_hex(start._replace(lightness=min(max(start.lightness + step, 0.0), 1.0)))


def _all_surfaces(surfaces: ThemeSurfaces) -> tuple[str, ...]:
    return surfaces.page, surfaces.canvas, surfaces.sunken, surfaces.raised


def _to_oklch(shade: str) -> Oklch:
    from coloraide import Color

    lightness, chroma, hue = Color(shade).convert("oklch").coords(nans=False)
    return Oklch(lightness, chroma, hue)


def _oklch_to_hex(shade: Oklch) -> str:
    from coloraide import Color

    return _fit_to_srgb(Color("oklch", list(shade)))


def _fit_to_srgb(colour: "Color") -> str:
    return colour.convert("srgb").fit(method="oklch-chroma").to_string(hex=True, fit=False)


@lru_cache(maxsize=65_536)
def _luminance(shade: str) -> float:
    red, green, blue = (_LINEAR[int(shade[position : position + 2], 16)] for position in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


_LINEAR = [
    value / 255 / 12.92 if value / 255 <= 0.04045 else ((value / 255 + 0.055) / 1.055) ** 2.4
    for value in range(256)
]
