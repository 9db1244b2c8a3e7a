"""One name column parted into first name, last name and titles."""

import re
from typing import NamedTuple

_PARTICLES = frozenset(
    {
        *("al", "af", "ap", "av", "bin", "da", "das", "de", "dei", "del", "della", "den", "der"),
        *("des", "di", "do", "dos", "du", "el", "ibn", "la", "las", "le", "los", "san", "te"),
        *("ten", "ter", "van", "vom", "von", "zu", "zum", "zur"),
    }
)
_TITLES = frozenset(
    {
        *("mr", "mrs", "ms", "miss", "mx", "dr", "prof", "sir", "madam", "rev", "hon"),
        *("herr", "frau", "m", "mme", "mlle", "sr", "sra", "srta", "don", "doña", "ing"),
    }
)
_AFTER_TITLES = frozenset({"med", "jur", "rer", "nat", "phil", "pol", "dipl", "mag", "dipl.-ing"})
_BARE_TITLES = frozenset({"mr", "mrs", "ms", "dr", "prof", "herr", "frau", "mme", "mlle"})
"""Titles also without a full stop; the others could be names or initials."""
_NO_PART = re.compile(r"[&/()+\d]")
"""What is in no first or last name: of several people, or with words beside it."""
_SUFFIXES = frozenset(
    {"md", "phd", "dds", "dmd", "dvm", "jd", "mba", "cpa", "rn", "esq", "jr", "sr", "ii", "iii"}
)


class PersonName(NamedTuple):
    """The parts of a name, each empty where it is absent."""

    first: str
    last: str
    title: str


def read_name(name: str) -> PersonName:
    """``Whitcombe, Aurelia`` by the comma, else the last word is the last name, with the
    particles before it (``de la Fuente``). Titles before and degrees after it are set aside. What
    is not one person's name alone (``Mr. & Mrs. Lee``, ``Ann Lee (mother)``) is not parted."""
    if _NO_PART.search(name):
        return PersonName(" ".join(name.split()), "", "")
    before, comma, after = name.partition(",")
    degrees = ""
    if comma and after.strip() and all(map(_is_suffix, after.replace(",", " ").split())):
        degrees = " ".join(after.split())
        name, comma = before, ""
    if comma and before.strip() and after.strip():
        first, title = _without_title(after.split())
        return PersonName(" ".join(first), " ".join(before.split()), title)
    words, title = _without_title(name.replace(",", " ").split())
    if len(words) > 2 and _is_suffix(words[-1]):
        degrees = f"{words.pop()} {degrees}".strip()
    start = _last_name_of(words, has_title=bool(title))
    titles = ", ".join(filter(None, (title, degrees)))
    return PersonName(" ".join(words[:start]), " ".join(words[start:]), titles)


def _last_name_of(words: list[str], *, has_title: bool) -> int:
    """The place where the last name begins."""
    if len(words) < 2:
        # Dr. Lee: a title and one word leave the last name.
        return 0 if has_title else 1
    if words[0] in _PARTICLES:
        return 0
    inner = range(1, len(words) - 1)
    return next((i for i in inner if words[i].casefold() in _PARTICLES), len(words) - 1)


def _without_title(words: list[str]) -> tuple[list[str], str]:
    count = 0
    while count < len(words) - 1 and (_is_title(words[count]) or _goes_on(words, count)):
        count += 1
    return words[count:], " ".join(words[:count])


def _is_title(word: str) -> bool:
    plain = word.casefold()
    return plain in _BARE_TITLES or (plain.endswith(".") and plain.rstrip(".") in _TITLES)


def _goes_on(words: list[str], place: int) -> bool:
    """Whether a title goes on: Dr. med. Lee."""
    word = words[place].casefold()
    return place > 0 and word.endswith(".") and word.rstrip(".") in _AFTER_TITLES


def _is_suffix(word: str) -> bool:
    return word.replace(".", "").casefold() in _SUFFIXES
