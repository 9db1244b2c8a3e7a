"""Texts of users are data in a PDF: they are never read as markup."""

import io
from typing import Any

from PIL import Image

from app.services import pdf

HOSTILE = '#panic("no") $x$ *b* \\ "quoted" </text> #read("/etc/passwd") Łódź 東京'


def statement(**changes: Any) -> bytes:
    data = {
        "title": HOSTILE,
        "product": HOSTILE,
        "partner": HOSTILE,
        "colour": "#7a2e6e",
        "logo": None,
        "footer": HOSTILE,
        "parties": [("From", HOSTILE, [HOSTILE]), ("To", HOSTILE, [])],
        "facts": [("Period", HOSTILE)],
        "columns": ["Description", "Quantity", "Unit price", "Amount"],
        "lines": [(HOSTILE, HOSTILE, "1", "$1.00", "$1.00")],
        "total": ("Total", "$1.00"),
        "payment": (HOSTILE, [HOSTILE, ""]),
        "note": HOSTILE,
    }
    return pdf.render("statement", data | changes)


def test_a_statement_is_typeset_from_any_text() -> None:
    assert statement().startswith(b"%PDF-")


def test_a_statement_has_many_lines_and_a_logo() -> None:
    logo = io.BytesIO()
    Image.new("RGB", (240, 60), "#7a2e6e").save(logo, "PNG")
    lines = [(f"Line {number}", "", "1", "$1.00", "$1.00") for number in range(80)]
    made = statement(logo=list(logo.getvalue()), lines=lines)
    assert made.startswith(b"%PDF-")
    assert b"/Subtype /Image" in made or b"/Subtype/Image" in made
