"""Every text, button and chart on every background that a brand colours, with its contrast."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from app.languages import gettext, lazy_gettext
from app.services.branding.chat_colours import areas, window_colours
from app.services.branding.shades import (
    DARK,
    EDGE,
    INK,
    LIGHT,
    TEXT_ON_SOLID,
    WHITE,
    ThemeShades,
    ThemeSurfaces,
    brand_shades,
    contrast,
)
from app.validation.colours import to_hex

Verdict = Literal["As given", "Shade used", "Dark text", "Standard"]


@dataclass(frozen=True, slots=True)
class ThemePair:
    """A pair in one theme: ``foreground`` on ``background``, and which of the two is
    the brand's."""

    foreground: str
    background: str
    shade: str
    ratio: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ColourPair:
    """One pair in both themes. ``needed`` is WCAG's AA for it: 4.5 for text, 3 for edges and
    charts. ``nearest`` is the shade in the light theme that replaces the given colour, if one
    does."""

    group: str
    label: str
    needed: float
    light: ThemePair
    dark: ThemePair
    nearest: str | None
    plain: bool
    """Whether it is an edge or an area, not text."""

    @property
    def lowest(self) -> float:
        return min(self.light.ratio, self.dark.ratio)


@dataclass(frozen=True, slots=True)
class _PairKind:
    """A pair by the names of its shades; the background may be a surface of the theme. The brand's
    part is the background of white or ink text, else the foreground."""

    group: str
    label: str
    foreground: str
    background: str
    needed: float = TEXT_ON_SOLID
    offered: bool = True

    def seen(self, brand: str, shades: ThemeShades, surfaces: ThemeSurfaces) -> ThemePair:
        named = asdict(surfaces) | asdict(shades)
        foreground, background = named[self.foreground], named[self.background]
        is_on_brand = self.foreground in ("on", "panel_on")
        return _theme_pair(brand, foreground, background, background if is_on_brand else foreground)


BUTTONS = lazy_gettext("Buttons")
LINKS = lazy_gettext("Links")
CHARTS = lazy_gettext("Charts")
LARGE_AREAS = lazy_gettext("Large areas")

_KINDS = (
    _PairKind(BUTTONS, lazy_gettext("Button text"), "on", "solid"),
    _PairKind(BUTTONS, lazy_gettext("Button text under the pointer"), "on", "hover", offered=False),
    _PairKind(BUTTONS, lazy_gettext("Button text while pressed"), "on", "press", offered=False),
    _PairKind(BUTTONS, lazy_gettext("Edge of a button on the page"), "edge", "page", needed=EDGE),
    _PairKind(LINKS, lazy_gettext("Link on the page"), "text", "page"),
    _PairKind(LINKS, lazy_gettext("Link under the pointer"), "text_hover", "page", offered=False),
    _PairKind(LINKS, lazy_gettext("Link in the sidebar"), "text", "canvas"),
    _PairKind(LINKS, lazy_gettext("Link on grey"), "text", "sunken"),
    _PairKind(LINKS, lazy_gettext("Link in a menu"), "text", "raised"),
    _PairKind(LINKS, lazy_gettext("Chosen row"), "text", "subtle"),
    _PairKind(LINKS, lazy_gettext("Focus ring on the page"), "text", "page", needed=EDGE),
    _PairKind(CHARTS, lazy_gettext("Chart on the page"), "chart", "page", needed=EDGE),
    _PairKind(CHARTS, lazy_gettext("Chart in a panel"), "chart", "raised", needed=EDGE),
    _PairKind(LARGE_AREAS, lazy_gettext("Text on large areas"), "panel_on", "panel"),
)
_CHAT_LABELS = {
    "header": lazy_gettext("Chat header"),
    "visitor": lazy_gettext("Visitor messages"),
    "assistant": lazy_gettext("Replies"),
    "background": lazy_gettext("Hints on the background"),
}


def colour_pairs(colour: str, chat: Mapping[str, Any] | None) -> list[ColourPair]:
    """Return every pair of a brand colour and its chat colours. Raises ValueError for no colour."""
    return [*_brand_pairs(colour), *_chat_pairs(colour, chat)]


def offered_shades(colour: str) -> frozenset[str]:
    """Return the shades that can replace the given brand colour."""
    return frozenset(pair.nearest for pair in _brand_pairs(colour) if pair.nearest)


def _brand_pairs(colour: str) -> Iterator[ColourPair]:
    brand = brand_shades(colour)
    for kind in _KINDS:
        light = kind.seen(brand.colour, brand.light, LIGHT)
        dark = kind.seen(brand.colour, brand.dark, DARK)
        nearest = light.shade if kind.offered and light.shade != brand.colour else None
        plain = kind.needed == EDGE
        yield ColourPair(str(kind.group), str(kind.label), kind.needed, light, dark, nearest, plain)


def _chat_pairs(colour: str, chat: Mapping[str, Any] | None) -> Iterator[ColourPair]:
    part_colours = window_colours(chat)
    for part, area in areas(colour, chat).items():
        part_colour = part_colours.get(
            part, to_hex(colour) if part in ("header", "visitor") else None
        )
        light = _theme_pair(part_colour, area.light[1], area.light[0], area.light[0])
        dark = _theme_pair(part_colour, area.dark[1], area.dark[0], area.dark[0])
        group, label = gettext("Chat bubble"), str(_CHAT_LABELS[part])
        yield ColourPair(group, label, TEXT_ON_SOLID, light, dark, None, False)


def _theme_pair(
    given_colour: str | None, foreground: str, background: str, shade: str
) -> ThemePair:
    verdict: Verdict = "As given"
    if given_colour is None:
        verdict = "Standard"
    elif shade != given_colour:
        verdict = "Shade used"
    elif foreground == INK and shade == background and contrast(WHITE, shade) < TEXT_ON_SOLID:
        verdict = "Dark text"
    return ThemePair(foreground, background, shade, contrast(foreground, background), verdict)
