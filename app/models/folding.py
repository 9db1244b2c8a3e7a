"""The form in which names are searched and sorted: without accents and upper case."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache

_LETTERS = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ı": "i", "ŋ": "n"}
    | {"æ": "ae", "œ": "oe", "þ": "th"}
)
"""Latin letters that Unicode doesn't decompose into a letter and its accent."""
_ACCENTS = dict.fromkeys(range(0x300, 0x370))
"""The combining accents of Latin, Greek and Cyrillic. The marks of other scripts are letters."""
_LATIN_END = 0x250
_BEYOND_LATIN = re.compile(f"[^\\0-{chr(_LATIN_END - 1)}]")
_UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue"}
_SPELLED_OUT = str.maketrans(_UMLAUTS)
_TYPED_OUT = re.compile(r"(?<![aeiouq])[aou]e")
"""An umlaut written with two letters, but not the "ue" of "Bauer" or "Quelle"."""
MIN_SPELLING_LENGTH = 3
"""Minimum letters of a spelling: a shorter one is in too many names, and no index finds it."""


def fold(text: str) -> str:
    """Return the text in lower case, without accents: ``Łódź`` and ``LODZ`` give ``lodz``."""
    if text.isascii():
        return text.lower()
    if not _BEYOND_LATIN.search(text):
        return text.translate(_latin_folds())
    return _fold_any(text)


@cache
def _latin_folds() -> dict[int, str]:
    """Return the folded form of each Latin letter: a text of them is folded in a tenth of the
    time."""
    return {code: _fold_any(chr(code)) for code in range(_LATIN_END)}


def _fold_any(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text).casefold().translate(_ACCENTS)
    return unicodedata.normalize("NFC", apart.translate(_LETTERS))


def fold_lines(texts: Iterable[str | None]) -> str:
    """Return the texts folded, one per line; missing ones are left out."""
    return "\n".join(fold(text) for text in texts if text)


def hyphenated(text: str, max_length: int) -> str:
    """Return the words of the text for a URL or the name of a file: lower-case ASCII and hyphens,
    limited to this many characters, cut after a word. It is empty if no letter is Latin."""
    slug = re.sub(r"[^a-z0-9]+", "-", fold(text)).strip("-")
    if len(slug) <= max_length:
        return slug
    return slug[: max_length + 1].rpartition("-")[0] or slug[:max_length]


def contains_text(text: str, query: str) -> bool:
    """Return whether the text contains the words, in any case, with or without accents, and with
    umlauts in either spelling."""
    folded, normalized = fold(text), unicodedata.normalize("NFC", text).lower()
    return fold(query) in folded or any(
        spelling in folded and all(umlaut in normalized for umlaut in umlauts)
        for spelling, umlauts in other_spellings(query)
    )


def other_spellings(text: str) -> Iterator[tuple[str, str]]:
    """Yield the folded text with its German umlauts written in the other way, each with the
    umlauts that a name must have to match it: ``Müller`` is written ``mueller``, and ``Mueller`` is
    ``muller`` in a name with an ``ü``, so that ``Joel`` doesn't find ``Jolene``."""
    normalized = unicodedata.normalize("NFC", text).lower()
    if set(normalized) & set(_UMLAUTS):
        yield fold(normalized.translate(_SPELLED_OUT)), ""
    folded = fold(text)
    umlauts = dict.fromkeys(_TYPED_OUT.findall(folded))
    short = _TYPED_OUT.sub(lambda match: match[0][0], folded)
    if umlauts and len(short) >= MIN_SPELLING_LENGTH:
        yield short, "".join(letter for letter, digraph in _UMLAUTS.items() if digraph in umlauts)
