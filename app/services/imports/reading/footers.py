"""Rows below a list that are no part of it: totals, copyright, who made the export and when.

A row is a footer only if nothing but blank rows and other footers comes below it.
"""

import re
from collections.abc import Sequence

MOST_ROWS = 30
_WORDS = re.compile(
    r"(?:grand |sub-?)?totals?\s*(?:$|[:(=]|records|rows|contacts|\d)|copyright\b|©|\(c\) ?\d{4}|"
    r"confidential information|confidential$|(?:generated|exported|created|printed) (?:by|on|at)\b|"
    r"report (?:generated|created|name|date)\b|(?:record|row|contact)s? ?count\b|"
    r"\d+ (?:records?|rows?|contacts?)\b|page \d+|[-*= ]*end of (?:report|file|list|export)|"
    r"do not distribute|all rights reserved|"
    r"(?:gesamt|summe|gesamtsumme|anzahl|total général|totales?)\s*(?:$|[:(=]|\d)|"
    r"(?:erstellt|exportiert|gedruckt|generado|creado|exportado|impreso|criado|gerado|impresso) "
    r"(?:am|von|durch|el|por|em)\b|(?:généré|créé|exporté|imprimé)e? (?:le|par)\b|"
    r"druckdatum\b|(?:seite|página|pagina) \d+|\d+ (?:datensätze|einträge|kontakte|registros|"
    r"contactos|contatos|enregistrements)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\+\d[\d\s().-]{6,}|\(?\b\d{3}\)?[ .-]\d{3}[.-]\d{4}\b")
"""Written as only phone numbers are: sums and dates look otherwise."""
_IDENTIFIER = re.compile(r"[^@\s]@[^@\s]|(?:\d[\s().+-]*){7}")


def filled(cells: Sequence[str]) -> list[str]:
    return [text for cell in cells if (text := cell.strip())]


def is_footer(cells: Sequence[str]) -> bool:
    """Whether the row says so by its words. ``cells`` are those with something in them."""
    return (
        len(cells) <= 3
        and _WORDS.match(cells[0]) is not None
        and not any("@" in cell or _NUMBER.search(cell) for cell in cells)
    )


def may_be_footer(cells: Sequence[str]) -> bool:
    """Whether a row that stands apart may belong to a footer: one text that tells no contact."""
    return len(cells) == 1 and not _IDENTIFIER.search(cells[0])
