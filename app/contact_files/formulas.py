"""Cells that a spreadsheet would run as formulas, and formulas that were never calculated.

In exports a cell that begins with ``= + - @``, a tab or a line break (after any apostrophes) gets
one apostrophe in front; reading removes exactly that one, so nothing is lost. A spreadsheet may
also split a cell at semicolons, tabs and line breaks, whatever separates ours: each part that
begins with ``= + - @`` gets its apostrophe too.
"""

import re

UNCALCULATED = "=\t"
"""The beginning of a formula whose result the workbook does not have: no typed text has it."""

_PART = r"""(\A|[;\t\r\n]"*)"""
_FORMULA = re.compile(rf"\A(?='*[\t\r\n])|{_PART}(?='*[=+\-@])")
_GUARDED = re.compile(rf"\A'(?='*[\t\r\n])|{_PART}'(?='*[=+\-@])")
_BEGINNING = re.compile(r"[=+\-@\t\r\n]")


def guard_cell(value: str) -> str:
    """Escape a value that a spreadsheet would run when it opens the CSV file."""
    return _FORMULA.sub(r"\g<0>'", value) if _BEGINNING.search(value) else value


def unguard_cell(value: str) -> str:
    """Undo `guard_cell`."""
    return _GUARDED.sub(r"\1", value) if "'" in value else value
