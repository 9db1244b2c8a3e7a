"""Cells that a spreadsheet would run as formulas, and formulas that were never calculated.

In exports a cell that begins with ``= + - @``, a tab or a line break (after any apostrophes) gets
one apostrophe in front; reading removes exactly that one, so nothing is lost.
"""

import re

UNCALCULATED = "=\t"
"""The beginning of a formula whose result the workbook does not have: no typed text has it."""

_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_GUARDED = re.compile(r"'+[=+\-@\t\r\n]")


def guard_cell(value: str) -> str:
    """Escape a value that a spreadsheet would run when it opens the CSV file."""
    return f"'{value}" if _FORMULA.match(value) else value


def unguard_cell(value: str) -> str:
    """Undo `guard_cell`."""
    return value[1:] if _GUARDED.match(value) else value
