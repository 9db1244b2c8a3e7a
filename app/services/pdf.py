"""Typeset data as a PDF. The templates are in ``templates/pdf``."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from app.config import ROOT
from app.errors import NotFound
from app.languages import gettext, language

if TYPE_CHECKING:
    import typst

TEMPLATES = ROOT / "templates" / "pdf"
FONTS = ("Inter", "DejaVu Sans Mono")
"""The second one is part of the typesetter, for installations without built assets. System fonts
follow, for scripts that neither has."""


def is_installed() -> bool:
    """Return whether the extra ``pdf`` is installed."""
    return find_spec("typst") is not None


def render(template: str, data: Mapping[str, Any]) -> bytes:
    """Return the PDF of a template, such as ``statement``. ``data`` is JSON: texts in it are never
    read as markup. They are in the current language, which decides where words are broken. Raises
    `NotFound` unless the extra ``pdf`` is installed."""
    if not is_installed():
        raise NotFound(gettext("PDF support isn’t installed here. Ask the operator of the portal."))
    import typst

    document = typst.compile(
        TEMPLATES / f"{template}.typ",
        root=TEMPLATES,
        font_paths=_fonts(),
        sys_inputs={"data": json.dumps({**data, "fonts": FONTS, "language": language()})},
    )
    assert isinstance(document, bytes)  # noqa: S101 - one file, as a PDF is
    return document


@cache
def _fonts() -> "typst.Fonts":
    """Read the fonts, once in a process."""
    import typst

    return typst.Fonts(True, True, [ROOT / "static" / "vendor"])
