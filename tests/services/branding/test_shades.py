"""The shades promise contrast for every colour a partner may have; the sweep holds them to it."""

import itertools

import pytest

from app.services.branding.shades import (
    DARK,
    GREY_BELOW,
    INK,
    LIGHT,
    WHITE,
    ThemeShades,
    ThemeSurfaces,
    brand_shades,
    contrast,
    stylesheet,
)
from tests.matrix import is_full

STEPS = (0, 36, 73, 109, 146, 182, 219, 255) if is_full() else (0, 73, 146, 219, 255)
DIFFICULT = (
    *("#7a2e6b", "#ffc800", "#e4688a", "#3f4a5a", "#0000ff", "#00ff00", "#ff0000", "#ff00ff"),
    *("#00ffff", "#ffff00", "#777777", "#767676", "#949494", "#959595", "#010101", "#fefefe"),
    *("#181715", "#12100e", "#1e1b18", "#f9f7f4", "#b63731", "#ee0000", "#ff6600", "#00a3a3"),
)
COLOURS = [
    *(f"#{r:02x}{g:02x}{b:02x}" for r, g, b in itertools.product(STEPS, repeat=3)),
    *(f"#{grey:02x}{grey:02x}{grey:02x}" for grey in range(0, 256, 1 if is_full() else 5)),
    *DIFFICULT,
]


def missed(shades: ThemeShades, surfaces: ThemeSurfaces) -> list[str]:
    """The promises of one theme that do not hold, with what was measured."""
    everywhere = [surfaces.page, surfaces.canvas, surfaces.sunken, surfaces.raised, shades.subtle]
    measured = {
        "text on the button": (contrast(shades.on, shades.solid), 4.5),
        "text on the button under the pointer": (contrast(shades.on, shades.hover), 4.5),
        "text on the pressed button": (contrast(shades.on, shades.press), 4.5),
        "edge on the page": (contrast(shades.edge, surfaces.page), 3.0),
        "link on the worst surface": (min(contrast(shades.text, s) for s in everywhere), 4.6),
        "link under the pointer": (min(contrast(shades.text_hover, s) for s in everywhere), 4.6),
        "chart on the page": (contrast(shades.chart, surfaces.page), 3.1),
        "chart on what is raised": (contrast(shades.chart, surfaces.raised), 3.1),
        "text on the panel": (contrast(shades.panel_on, shades.panel), 4.5),
    }
    return [f"{name}: {had:.3f} < {need}" for name, (had, need) in measured.items() if had < need]


def test_every_shade_of_every_colour_keeps_its_contrast() -> None:
    found = {}
    for colour in COLOURS:
        brand = brand_shades(colour)
        if problems := missed(brand.light, LIGHT) + missed(brand.dark, DARK):
            found[colour] = problems
    assert found == {}


def test_a_colour_that_is_dark_enough_for_white_text_is_used_as_given() -> None:
    brand = brand_shades("#7a2e6b")
    light, dark = brand.light, brand.dark
    assert (light.solid, light.on, light.edge, light.text, light.chart, light.panel) == (
        *("#7a2e6b", "#ffffff", "#7a2e6b", "#7a2e6b", "#7a2e6b", "#7a2e6b"),
    )
    assert (dark.solid, dark.text) == ("#964885", "#d17dbd")


def test_yellow_stays_yellow_and_gets_dark_text() -> None:
    light = brand_shades("#ffc800").light
    assert (light.solid, light.on, light.edge, light.text) == (
        *("#ffc800", INK, "#bb8c00", "#8b6700"),
    )


def test_a_colour_that_is_nearly_dark_enough_is_darkened_for_buttons_only() -> None:
    light = brand_shades("#e4688a").light
    assert (light.solid, light.on, light.panel, light.panel_on, light.chart) == (
        *("#c54c70", WHITE, "#e4688a", INK, "#e4688a"),
    )


def test_black_is_lightened_on_a_dark_page() -> None:
    brand = brand_shades("#000")
    assert (brand.light.solid, brand.dark.solid, brand.dark.on) == ("#000000", "#646464", WHITE)
    assert brand.light.hover != brand.light.solid


def test_the_same_colour_in_another_notation_gives_the_same_shades() -> None:
    words = ["#F00", "#ff0000", "red", "RGB(255, 0, 0)", "hsl(0, 100%, 50%)"]
    assert {brand_shades(word) for word in words} == {brand_shades("#ff0000")}


@pytest.mark.parametrize("word", ["", "#12", "url(x)", "transparent", "#12345678", "nocolour"])
def test_an_invalid_colour_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match="not a colour"):
        brand_shades(word)


def test_the_sheet_holds_brand_properties_and_nothing_else() -> None:
    lines = stylesheet("#ffc800").splitlines()
    assert (lines[0], lines[-1]) == (":root {", "}")
    names = [line.split(":")[0].strip() for line in lines[1:-1]]
    assert names == [
        "--brand",
        *(f"--brand-{name.replace('_', '-')}" for name in ThemeShades.__dataclass_fields__),
        "--brand-panel-line",
        "--brand-link-line",
    ]
    assert "  --brand-edge: light-dark(#bb8c00, #ffc800);" in lines


@pytest.mark.parametrize(
    ("colour", "line"),
    [
        ("#ffffff", "light-dark(#e3e0dc, transparent)"),
        ("#12100e", "light-dark(transparent, #33312e)"),
    ],
)
def test_a_panel_of_the_colour_of_the_page_gets_a_border(colour: str, line: str) -> None:
    assert f"  --brand-panel-line: {line};" in stylesheet(colour).splitlines()


def test_links_of_a_grey_brand_stay_underlined() -> None:
    assert brand_shades("#777777").grey
    assert "--brand-link-line: underline;" in stylesheet("#777777")
    assert not brand_shades("#7a2e6b").grey
    assert "--brand-link-line: none;" in stylesheet("#7a2e6b")
    assert GREY_BELOW == 0.02
