"""Formulas whose result a workbook does not hold."""

import re

UNCALCULATED = "=\t"
"""What such a formula begins with in place of its ``=``: no text that somebody typed does."""


_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_GUARDED = re.compile(r"'+[=+\-@\t\r\n]")


def guard_cell(value: str) -> str:
    """The value as a CSV may carry it into a spreadsheet."""
    return f"'{value}" if _FORMULA.match(value) else value


def unguard_cell(value: str) -> str:
    """What ``guard_cell`` was given."""
    return value[1:] if _GUARDED.match(value) else value
