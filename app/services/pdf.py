"""Typeset data as a PDF. The templates are in ``templates/pdf``."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import typst

from app.config import ROOT
from app.languages import language

TEMPLATES = ROOT / "templates" / "pdf"
FONTS = ("Inter", "DejaVu Sans Mono")
"""The second one is part of the typesetter, for installations without built assets. Fonts of the
system follow, for scripts that neither has."""


def render(template: str, data: Mapping[str, Any]) -> bytes:
    """Return the PDF of a template, such as ``statement``. ``data`` is JSON: texts in it are never
    read as markup. They are in the current language, which decides where words are broken."""
    made = typst.compile(
        TEMPLATES / f"{template}.typ",
        root=TEMPLATES,
        font_paths=_fonts(),
        sys_inputs={"data": json.dumps({**data, "fonts": FONTS, "language": language()})},
    )
    assert isinstance(made, bytes)  # noqa: S101 - one file, as a PDF is
    return made


@cache
def _fonts() -> typst.Fonts:
    """Read the fonts, once in a process."""
    return typst.Fonts(True, True, [ROOT / "static" / "vendor"])
