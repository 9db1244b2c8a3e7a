"""SVG pictures as PNG: only shapes and text are kept, and a process with limits draws them."""

import io
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from app.config import ROOT
from app.languages import gettext

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 100
SECONDS = 10.0
_RENDERER = Path(__file__).with_name("svg_renderer.py")
_FONTS = tuple(
    str(ROOT / "static" / "vendor" / f"Inter_{weight}.ttf")
    for weight in ("400Regular", "600SemiBold", "700Bold")
)
_NAMESPACE = "{http://www.w3.org/2000/svg}"
_HREFS = ("href", "{http://www.w3.org/1999/xlink}href")
_REMOVED = frozenset(
    f"{_NAMESPACE}{name}"
    for name in ("script", "foreignObject", "animate", "animateMotion", "animateTransform", "set")
)
_PICTURES = (f"{_NAMESPACE}image", f"{_NAMESPACE}feImage")


class NotDrawn(Exception):
    """Why an SVG can't be used, as sentences."""


def is_svg(data: bytes) -> bool:
    """Return whether the file can only be an SVG: no other picture format begins like XML."""
    return data.lstrip(b"\xef\xbb\xbf\r\n\t ").startswith(b"<") and b"<svg" in data


def draw(data: bytes, box: tuple[int, int]) -> bytes:
    """Return the SVG as a PNG that fills the box in its own proportions. Raises `NotDrawn`.

    Nothing outside the file is read: scripts, animations and links to other files are removed, and
    pictures inside are refused. Text is drawn in Inter, whatever font it names; characters that
    Inter lacks are refused.
    """
    width, height = box
    try:
        drawn = subprocess.run(  # noqa: S603 - our own program; the picture goes in by a pipe
            [sys.executable, "-I", str(_RENDERER), str(width), str(height), *_FONTS],
            input=_clean(data),
            capture_output=True,
            timeout=SECONDS,
            check=True,
            cwd="/",
            env={},
        )
    except subprocess.TimeoutExpired:
        message = gettext("The SVG takes too long to draw. Save it simpler, or as PNG.")
        raise NotDrawn(message) from None
    except subprocess.CalledProcessError:
        message = gettext("The SVG can’t be drawn. Save it again, or as PNG.")
        raise NotDrawn(message) from None
    return drawn.stdout


def _clean(data: bytes) -> bytes:
    root = _parse(data)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in _REMOVED or not str(child.tag).startswith(_NAMESPACE):
                parent.remove(child)
    for element in root.iter():
        if element.tag in _PICTURES:
            message = gettext("The SVG contains a photo or another picture. Upload it as PNG.")
            raise NotDrawn(message)
        for name, value in list(element.attrib.items()):
            if name.startswith("on") or (name in _HREFS and not value.startswith("#")):
                del element.attrib[name]
    texts = ("".join(element.itertext()) for element in root.iter(f"{_NAMESPACE}text"))
    if missing := _missing_character(" ".join(texts)):
        message = gettext(
            "The SVG contains text with “%(character)s”, which can’t be drawn here. Turn the text "
            "into shapes and upload it again (Illustrator: Type, Create Outlines; Inkscape: Path, "
            "Object to Path; Figma: export with Outline text), or upload a PNG.",
            character=missing,
        )
        raise NotDrawn(message)
    return ElementTree.tostring(root)


def _missing_character(text: str) -> str | None:
    """Return a character that Inter has no glyph for, if there is one."""
    from PIL import ImageFont

    font = ImageFont.truetype(_FONTS[0], layout_engine=ImageFont.Layout.BASIC)
    no_glyph = bytes(font.getmask("\uffff"))
    used = sorted(set("".join(text.split())))
    return next((char for char in used if bytes(font.getmask(char)) == no_glyph), None)


def _parse(data: bytes) -> ElementTree.Element:
    """Read the XML. Expat reads no external entities, and stops at entities that multiply."""
    if len(data) > MAX_BYTES:
        message = gettext("The SVG is over 1 MB. Save it simpler, or as PNG.")
        raise NotDrawn(message)
    depth = 0
    root: ElementTree.Element | None = None
    try:
        events = ElementTree.iterparse(io.BytesIO(data), ("start", "end"))  # noqa: S314 - see above
        for event, element in events:
            root = element if root is None else root
            depth += 1 if event == "start" else -1
            if depth > MAX_DEPTH:
                message = gettext("The SVG is nested too deeply. Save it simpler, or as PNG.")
                raise NotDrawn(message)
    except (ElementTree.ParseError, LookupError, ValueError):
        root = None
    if root is None or root.tag != f"{_NAMESPACE}svg":
        message = gettext("This file is not an SVG that can be read. Save it again, or as PNG.")
        raise NotDrawn(message)
    return root
