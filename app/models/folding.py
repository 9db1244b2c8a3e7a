"""The form in which names are searched and sorted: without accents and upper case."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

_LETTERS = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ı": "i", "ŋ": "n"}
    | {"æ": "ae", "œ": "oe", "þ": "th"}
)
"""Latin letters that Unicode doesn't take apart into a letter and its accent."""
_ACCENTS = dict.fromkeys(range(0x300, 0x370))
"""The combining accents of Latin, Greek and Cyrillic. The marks of other scripts are letters."""
_UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue"}
_SPELLED_OUT = str.maketrans(_UMLAUTS)
_TYPED_OUT = re.compile(r"(?<![aeiouq])[aou]e")
"""An umlaut written with two letters: not the "ue" of "Bauer" or "Quelle"."""
SHORTEST_SPELLING = 3
"""A shorter one is in too many names, and no index finds it."""


def fold(text: str) -> str:
    """Return the text in lower case, without accents: ``Łódź`` and ``LODZ`` give ``lodz``."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text).casefold().translate(_ACCENTS)
    return unicodedata.normalize("NFC", apart.translate(_LETTERS))


def fold_lines(texts: Iterable[str | None]) -> str:
    """Return the texts folded, a line each; those that are missing are left out."""
    return "\n".join(fold(text) for text in texts if text)


def hyphenated(text: str, most: int) -> str:
    """Return the words of the text for an address or the name of a file: lower-case ASCII and
    hyphens, at most so many characters, cut after a word. It is empty if no letter is Latin."""
    words = re.sub(r"[^a-z0-9]+", "-", fold(text)).strip("-")
    if len(words) <= most:
        return words
    return words[: most + 1].rpartition("-")[0] or words[:most]


def other_spellings(text: str) -> Iterator[tuple[str, str]]:
    """Yield the folded text with its German umlauts written in the other way, each with the
    umlauts that a name must have to match it: ``Müller`` is written ``mueller``, and ``Mueller`` is
    ``muller`` in a name with an ``ü``, so that ``Joel`` doesn't find ``Jolene``."""
    typed = unicodedata.normalize("NFC", text).lower()
    if set(typed) & set(_UMLAUTS):
        yield fold(typed.translate(_SPELLED_OUT)), ""
    folded = fold(text)
    umlauts = dict.fromkeys(_TYPED_OUT.findall(folded))
    short = _TYPED_OUT.sub(lambda found: found[0][0], folded)
    if umlauts and len(short) >= SHORTEST_SPELLING:
        yield short, "".join(letter for letter, both in _UMLAUTS.items() if both in umlauts)
