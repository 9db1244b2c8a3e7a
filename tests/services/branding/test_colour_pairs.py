"""Every pair of colours is readable, whatever the brand; the chat's are too."""

import pytest

from app.services.branding.chat_colours import PARTS, areas, chat_sheet, sheet_at
from app.services.branding.colour_pairs import colour_pairs, offered_shades
from app.services.branding.shades import contrast

DIFFICULT = (
    "#ffffff", "#000000", "#ffc800", "#0a1a3a", "#e4688a", "#777777", "#7a2e6b", "#0f0", "#f00",
)  # fmt: skip
CHATS: tuple[dict[str, str] | None, ...] = (None, {}, dict.fromkeys(PARTS, "#808080"))


@pytest.mark.parametrize("chat", CHATS)
@pytest.mark.parametrize("colour", DIFFICULT)
def test_every_colour_pair_has_enough_contrast(colour: str, chat: dict[str, str] | None) -> None:
    low = [
        (pair.label, theme)
        for pair in colour_pairs(colour, chat)
        for theme, seen in (("light", pair.light), ("dark", pair.dark))
        if seen.ratio < pair.needed
    ]
    assert low == []


def test_the_pairs_are_those_of_buttons_links_charts_areas_and_chat() -> None:
    pairs = colour_pairs("#e4688a", {"header": "rebeccapurple", "visitor": "#777"})
    assert [(p.group, p.label, p.light.verdict, p.nearest) for p in pairs] == [
        ("Buttons", "Button text", "Shade used", "#c54c70"),
        ("Buttons", "Button text under the pointer", "Shade used", None),
        ("Buttons", "Button text while pressed", "Shade used", None),
        ("Buttons", "Edge of a button on the page", "Shade used", "#c54c70"),
        ("Links", "Link on the page", "Shade used", "#b84065"),
        ("Links", "Link under the pointer", "Shade used", None),
        ("Links", "Link in the sidebar", "Shade used", "#b84065"),
        ("Links", "Link on grey", "Shade used", "#b84065"),
        ("Links", "Link in a menu", "Shade used", "#b84065"),
        ("Links", "Chosen row", "Shade used", "#b84065"),
        ("Links", "Focus ring on the page", "Shade used", "#b84065"),
        ("Charts", "Chart on the page", "As given", None),
        ("Charts", "Chart in a panel", "As given", None),
        ("Large areas", "Text on large areas", "Dark text", None),
        ("Chat bubble", "Chat header", "As given", None),
        ("Chat bubble", "Visitor messages", "Shade used", None),
        ("Chat bubble", "Replies", "Standard", None),
        ("Chat bubble", "Hints on the background", "Standard", None),
    ]


def test_the_shades_offered_are_those_of_the_pairs() -> None:
    assert offered_shades("#e4688a") == {"#c54c70", "#b84065"}
    assert offered_shades("#7a2e6b") == frozenset()


def test_the_chat_has_the_colours_of_the_partner_if_they_are_readable() -> None:
    made = areas("#7a2e6b", {"header": "white", "assistant": "#777777", "ours": "#123456"})
    assert made["header"].light == ("#ffffff", "#1e1b18")
    assert made["visitor"].light == ("#7a2e6b", "#ffffff")
    ground, text = made["assistant"].light
    assert contrast(ground, text) >= 4.5
    assert made.keys() == {"header", "visitor", "assistant", "background"}


def test_a_sheet_can_be_rebuilt_from_its_address() -> None:
    sheet = chat_sheet("#7a2e6b", {"header": "rebeccapurple"})
    assert sheet.address == "7a2e6b.663399.x.x.x"
    assert sheet_at(sheet.address) == sheet


@pytest.mark.parametrize("address", ["", "7a2e6b", "7a2e6b.x.x.x.x.x", "7a2e6b.x.x.x.url(x)"])
def test_an_invalid_address_of_a_sheet_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="not"):
        sheet_at(address)
