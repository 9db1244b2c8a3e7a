"""Cells that a spreadsheet would run as a formula: made safe in exports, undone in imports.

A cell that begins with ``= + - @``, a tab or a line break (after any apostrophes) gets one
apostrophe in front; reading takes exactly that one away, so the pair loses nothing.
"""

import re

_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_GUARDED = re.compile(r"'+[=+\-@\t\r\n]")


def guard_cell(value: str) -> str:
    """The value as a CSV may carry it into a spreadsheet."""
    return f"'{value}" if _FORMULA.match(value) else value


def unguard_cell(value: str) -> str:
    """What ``guard_cell`` was given."""
    return value[1:] if _GUARDED.match(value) else value
