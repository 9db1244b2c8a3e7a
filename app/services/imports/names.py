"""One name column parted into first name, last name and titles."""

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
_BARE_TITLES = frozenset({"mr", "mrs", "ms", "dr", "prof", "herr", "frau", "mme", "mlle"})
"""Titles also without a full stop; the others could be names or initials."""
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
    particles before it (``de la Fuente``). Titles before and degrees after it are set aside."""
    before, comma, after = name.partition(",")
    titles: list[str] = []
    if comma and after.strip() and all(map(_is_suffix, after.replace(",", " ").split())):
        titles.append(" ".join(after.split()))
        name, comma = before, ""
    if comma and before.strip() and after.strip():
        first, title = _without_title(after.split())
        return PersonName(" ".join(first), " ".join(before.split()), title)
    words, title = _without_title(name.replace(",", " ").split())
    if title:
        titles.insert(0, title)
    if len(words) < 2:
        # Dr. Lee: a title and one word leave the last name.
        only = " ".join(words)
        if title:
            return PersonName("", only, ", ".join(titles))
        return PersonName(only, "", ", ".join(titles))
    start = len(words) - 1
    for index in range(1, len(words) - 1):
        if words[index].casefold() in _PARTICLES:
            start = index
            break
    return PersonName(" ".join(words[:start]), " ".join(words[start:]), ", ".join(titles))


def _without_title(words: list[str]) -> tuple[list[str], str]:
    count = 0
    while count < len(words) - 1 and _is_title(words[count]):
        count += 1
    return words[count:], " ".join(words[:count])


def _is_title(word: str) -> bool:
    plain = word.casefold()
    return plain in _BARE_TITLES or (plain.endswith(".") and plain.rstrip(".") in _TITLES)


def _is_suffix(word: str) -> bool:
    return word.replace(".", "").casefold() in _SUFFIXES
