"""SVG pictures are drawn without reading anything else, within limits of time and memory."""

import io
from pathlib import Path

import pytest
from PIL import Image

from app.enums import ImageType
from app.errors import ValidationFailed
from app.services.branding import images, svg

SPACE = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
RED = '<rect width="400" height="100" fill="#ff0000"/>'


def document(inside: str, attributes: str = 'viewBox="0 0 400 100"', before: str = "") -> bytes:
    return f"{before}<svg {SPACE} {attributes}>{inside}</svg>".encode()


def drawn(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(svg.draw(data, (1120, 280)))).convert("RGBA")


def test_shapes_fill_the_box_in_their_own_proportions() -> None:
    found = [drawn(document(RED)), drawn(document(RED, 'viewBox="0 0 100 100"'))]
    assert [picture.size for picture in found] == [(1120, 280), (280, 280)]
    assert [picture.getpixel((5, 5)) for picture in found] == [(255, 0, 0, 255)] * 2


@pytest.mark.parametrize(
    "attributes",
    ['width="1000000" height="1000000"', 'width="1e9" height="1e9" viewBox="0 0 1e9 1e9"'],
)
def test_a_huge_canvas_is_drawn_small(attributes: str) -> None:
    assert drawn(document(RED, attributes)).size == (280, 280)


@pytest.mark.parametrize(
    "inside",
    [
        '<script>alert(1)</script><script xlink:href="https://x.example/a.js"/>',
        '<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">x</p></foreignObject>',
        '<a xlink:href="javascript:alert(1)"><g onload="alert(1)"/></a>',
        '<use xlink:href="https://x.example/a.svg#b"/><use href="/etc/a.svg#b"/>',
        '<style>@import url("https://x.example/a.css"); rect { mask: url(file:///a) }</style>',
        '<animate attributeName="fill" values="#00ff00"/>',
        "<text> </text>",
    ],
)
def test_scripts_and_references_of_an_svg_are_not_drawn(inside: str) -> None:
    assert drawn(document(RED + inside, 'viewBox="0 0 400 100" onload="alert(1)"')).getpixel(
        (5, 5)
    ) == (255, 0, 0, 255)


@pytest.mark.parametrize("name", ["image", "feImage"])
def test_an_embedded_picture_is_refused_and_no_file_is_read(name: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    Image.new("RGB", (400, 100), "#00ff00").save(secret)
    for address in (str(secret), "https://x.example/a.png", "data:image/png;base64,AAAA"):
        inside = f'<filter><{name} xlink:href="{address}" width="400" height="100"/></filter>'
        with pytest.raises(svg.NotDrawn, match="contains a photo or another picture"):
            svg.draw(document(inside), (1120, 280))


BIG = 'x="10" y="70" font-size="60"'


def ink(inside: str) -> list[int]:
    """Return how much of each column of the picture is dark."""
    rows = drawn(document(f'<rect width="400" height="100" fill="#fff"/>{inside}')).convert("L")
    return [255 - value for value in rows.resize((rows.width, 1), Image.Resampling.BOX).tobytes()]


@pytest.mark.parametrize(
    "inside",
    [
        f'<text {BIG} font-family="Montserrat">Bäcker</text>',
        f'<text {BIG} style="font: 60px Georgia !important">Bäcker</text>',
        f'<style>#t {{ font-family: cursive !important }}</style><text id="t" {BIG}>Bäcker</text>',
        f'<g font-family="serif"><text {BIG}>B<tspan font-family="X">äck</tspan>er</text></g>',
    ],
    ids=["attribute", "style", "style sheet", "parts"],
)
def test_text_is_always_drawn_in_inter(inside: str) -> None:
    assert ink(inside) == ink(f'<text {BIG} font-family="Inter">Bäcker</text>')
    assert sum(ink(inside)) > 10_000


def test_bold_text_is_drawn_bold() -> None:
    regular, bold = (
        sum(ink(f'<text {BIG} font-family="Roboto" font-weight="{weight}">Northwind</text>'))
        for weight in ("400", "700")
    )
    assert bold > 1.3 * regular


def laughs() -> str:
    tenfold = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    return f'<!DOCTYPE svg [<!ENTITY e0 "ha">{tenfold}]>'


UNREADABLE = "This file is not an SVG that can be read. Save it again, or as PNG."
UNDRAWABLE = "The SVG can’t be drawn. Save it again, or as PNG."


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (document("<desc>&e9;</desc>", before=laughs()), UNREADABLE),
        (
            document(
                "<desc>&e;</desc>",
                before='<!DOCTYPE svg [<!ENTITY e SYSTEM "file:///etc/passwd">]>',
            ),
            UNREADABLE,
        ),
        (b"<svg>" + b"<g>" * 10, UNREADABLE),
        (b"<html><svg></svg></html>", UNREADABLE),
        (
            document('<text x="5" y="50">Bäckerei 日本</text>'),
            (
                "The SVG contains text with “日”, which can’t be drawn here. Turn the text into "
                "shapes and upload it again (Illustrator: Type, Create Outlines; Inkscape: Path, "
                "Object to Path; Figma: export with Outline text), or upload a PNG."
            ),
        ),
        (
            document("<g>" * 5_000 + "</g>" * 5_000),
            "The SVG is nested too deeply. Save it simpler, or as PNG.",
        ),
        (
            document("<!--" + "x" * svg.MAX_BYTES + "-->"),
            "The SVG is over 1 MB. Save it simpler, or as PNG.",
        ),
        (document(RED, 'width="nan" height="-5"'), UNDRAWABLE),
        (
            document(
                '<g id="g0"><rect width="1" height="1"/></g>'
                + "".join(
                    f'<g id="g{n}">{f"""<use href="#g{n - 1}"/>""" * 10}</g>' for n in range(1, 8)
                )
            ),
            UNDRAWABLE,
        ),
        (
            document(
                '<pattern id="p" width="1e8" height="1e8" patternUnits="userSpaceOnUse">'
                '<rect width="1e8" height="1e8"/></pattern>'
                '<rect width="400" height="100" fill="url(#p)"/>'
            ),
            UNDRAWABLE,
        ),
    ],
    ids=[
        "billion laughs", "external entity", "not closed", "not svg", "no glyph", "deep", "large",
        "no size", "copies of copies", "huge pattern",
    ],
)  # fmt: skip
def test_an_svg_that_is_hostile_or_broken_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        images.encode(data, ImageType.LOGO, "logo")
    assert [problem.message for problem in refusal.value.problems] == [message]


BLURS = '<feGaussianBlur stdDeviation="900"/>' * 3_000


@pytest.mark.parametrize(
    "slow",
    [
        f'<filter id="a">{BLURS}</filter><rect width="9" height="9" filter="url(#a)"/>',
        f"<text>{'<tspan>W</tspan>' * 60_000}</text>",
    ],
    ids=["filter", "text"],
)
def test_drawing_ends_after_some_seconds(slow: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svg, "SECONDS", 0.3)
    with pytest.raises(svg.NotDrawn, match="takes too long to draw"):
        svg.draw(document(slow, 'viewBox="0 0 9 9"'), (1120, 280))
