"""The form in which names are searched and sorted: without accents and upper case."""

import unicodedata
from collections.abc import Iterable

_LETTERS = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ı": "i", "ŋ": "n"}
    | {"æ": "ae", "œ": "oe", "þ": "th"}
)
"""Latin letters that Unicode doesn't take apart into a letter and its accent."""
_ACCENTS = dict.fromkeys(range(0x300, 0x370))
"""The combining accents of Latin, Greek and Cyrillic. The marks of other scripts are letters."""


def fold(text: str) -> str:
    """Return the text in lower case, without accents: ``Łódź`` and ``LODZ`` give ``lodz``."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text).casefold().translate(_ACCENTS)
    return unicodedata.normalize("NFC", apart.translate(_LETTERS))


def fold_lines(texts: Iterable[str | None]) -> str:
    """Return the texts folded, a line each; those that are missing are left out."""
    return "\n".join(fold(text) for text in texts if text)
