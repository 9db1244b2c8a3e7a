"""Every text, button and chart on every background that a brand colours, with its contrast."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
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

Verdict = Literal["As given", "Shade used", "Dark text"]


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
    charts. ``nearest`` is the shade of the light theme, if the given colour was not used."""

    group: str
    label: str
    needed: float
    light: ThemePair
    dark: ThemePair
    nearest: str | None
    plain: bool
    """An edge or an area, not text."""

    @property
    def lowest(self) -> float:
        return min(self.light.ratio, self.dark.ratio)


@dataclass(frozen=True, slots=True)
class _PairKind:
    """How a pair is taken from a theme's shades: foreground, background, the brand's part."""

    group: str
    label: str
    needed: float
    read: Callable[[ThemeShades, ThemeSurfaces], tuple[str, str, str]]
    offered: bool = True


BUTTONS = lazy_gettext("Buttons")
LINKS = lazy_gettext("Links")
CHARTS = lazy_gettext("Charts")
LARGE_AREAS = lazy_gettext("Large areas")

_KINDS = (
    _PairKind(
        BUTTONS, lazy_gettext("Button text"), TEXT_ON_SOLID, lambda s, _: (s.on, s.solid, s.solid)
    ),
    _PairKind(
        BUTTONS,
        lazy_gettext("Button text under the pointer"),
        TEXT_ON_SOLID,
        lambda s, _: (s.on, s.hover, s.hover),
        offered=False,
    ),
    _PairKind(
        BUTTONS,
        lazy_gettext("Button text while pressed"),
        TEXT_ON_SOLID,
        lambda s, _: (s.on, s.press, s.press),
        offered=False,
    ),
    _PairKind(
        BUTTONS,
        lazy_gettext("Edge of a button on the page"),
        EDGE,
        lambda s, g: (s.edge, g.page, s.edge),
    ),
    _PairKind(
        LINKS,
        lazy_gettext("Link on the page"),
        TEXT_ON_SOLID,
        lambda s, g: (s.text, g.page, s.text),
    ),
    _PairKind(
        LINKS,
        lazy_gettext("Link in the sidebar"),
        TEXT_ON_SOLID,
        lambda s, g: (s.text, g.canvas, s.text),
    ),
    _PairKind(
        LINKS, lazy_gettext("Link on grey"), TEXT_ON_SOLID, lambda s, g: (s.text, g.sunken, s.text)
    ),
    _PairKind(
        LINKS,
        lazy_gettext("Link in a menu"),
        TEXT_ON_SOLID,
        lambda s, g: (s.text, g.raised, s.text),
    ),
    _PairKind(
        LINKS, lazy_gettext("Chosen row"), TEXT_ON_SOLID, lambda s, _: (s.text, s.subtle, s.text)
    ),
    _PairKind(
        LINKS,
        lazy_gettext("Link under the pointer"),
        TEXT_ON_SOLID,
        lambda s, g: (s.text_hover, g.page, s.text_hover),
        offered=False,
    ),
    _PairKind(
        LINKS, lazy_gettext("Focus ring on the page"), EDGE, lambda s, g: (s.text, g.page, s.text)
    ),
    _PairKind(
        CHARTS, lazy_gettext("Chart on the page"), EDGE, lambda s, g: (s.chart, g.page, s.chart)
    ),
    _PairKind(
        CHARTS, lazy_gettext("Chart in a panel"), EDGE, lambda s, g: (s.chart, g.raised, s.chart)
    ),
    _PairKind(
        LARGE_AREAS,
        lazy_gettext("Text on large areas"),
        TEXT_ON_SOLID,
        lambda s, _: (s.panel_on, s.panel, s.panel),
    ),
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
        light = _seen(brand.colour, *kind.read(brand.light, LIGHT))
        dark = _seen(brand.colour, *kind.read(brand.dark, DARK))
        nearest = light.shade if kind.offered and light.shade != brand.colour else None
        plain = kind.needed == EDGE
        yield ColourPair(str(kind.group), str(kind.label), kind.needed, light, dark, nearest, plain)


def _chat_pairs(colour: str, chat: Mapping[str, Any] | None) -> Iterator[ColourPair]:
    given = window_colours(chat)
    for part, area in areas(colour, chat).items():
        wanted = given.get(part, to_hex(colour) if part in ("header", "visitor") else None)
        light = _seen(wanted, area.light[1], area.light[0], area.light[0])
        dark = _seen(wanted, area.dark[1], area.dark[0], area.dark[0])
        group, label = gettext("Chat bubble"), str(_CHAT_LABELS[part])
        yield ColourPair(group, label, TEXT_ON_SOLID, light, dark, None, False)


def _seen(given: str | None, foreground: str, background: str, shade: str) -> ThemePair:
    verdict: Verdict = "As given"
    if given is None:  # a ground of the page itself
        return ThemePair(
            foreground, background, shade, contrast(foreground, background), "As given"
        )
    if shade != given:
        verdict = "Shade used"
    elif foreground == INK and shade == background and contrast(WHITE, shade) < TEXT_ON_SOLID:
        verdict = "Dark text"
    return ThemePair(foreground, background, shade, contrast(foreground, background), verdict)
