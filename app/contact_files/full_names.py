"""Split a full name into first name, last name and titles."""

import re
from typing import NamedTuple

_PARTICLES = frozenset(
    {
        "al",
        "af",
        "ap",
        "av",
        "bin",
        "da",
        "das",
        "de",
        "dei",
        "del",
        "della",
        "den",
        "der",
        "des",
        "di",
        "do",
        "dos",
        "du",
        "el",
        "ibn",
        "la",
        "las",
        "le",
        "los",
        "san",
        "te",
        "ten",
        "ter",
        "van",
        "vom",
        "von",
        "zu",
        "zum",
        "zur",
    }
)
_TITLES = frozenset(
    {
        "mr",
        "mrs",
        "ms",
        "miss",
        "mx",
        "dr",
        "prof",
        "sir",
        "madam",
        "rev",
        "hon",
        "herr",
        "frau",
        "m",
        "mme",
        "mlle",
        "sr",
        "sra",
        "srta",
        "don",
        "doña",
        "ing",
    }
)
_AFTER_TITLES = frozenset({"med", "jur", "rer", "nat", "phil", "pol", "dipl", "mag", "dipl.-ing"})
_BARE_TITLES = frozenset({"mr", "mrs", "ms", "dr", "prof", "herr", "frau", "mme", "mlle"})
"""Titles without a full stop; others without one could be names or initials."""
_NO_PART = re.compile(
    r"[&/()+\d]|\s(?:and|und|et)\s|"
    r"[\s,](?:inc|llc|l\.l\.c|ltd|limited|gmbh|corp|plc|llp|pllc|pty|s\.?r\.?l|b\.?v|ohg|kg)\.?$",
    re.IGNORECASE,
)
"""Parts that no name of one person has: several people, a company, or other words."""
_WORD = re.compile(r"\w+")
_SUFFIXES = frozenset(
    {"md", "phd", "dds", "dmd", "dvm", "jd", "mba", "cpa", "rn", "esq", "jr", "sr", "ii", "iii"}
)


class FullName(NamedTuple):
    """The parts of a name, each empty if absent."""

    first: str
    last: str
    title: str


def read_name(name: str) -> FullName:
    """Split ``Whitcombe, Aurelia`` at the comma; else the last word is the last name, with the
    particles before it (``de la Fuente``). Titles and degrees are set aside. What is not the name
    of one person (``Mr. & Mrs. Lee``, ``Ann Lee (mother)``) is not split."""
    if not is_single_name(name):
        return FullName(" ".join(name.split()), "", "")
    name, degrees = _without_degrees(name)
    before, comma, after = name.partition(",")
    if comma and before.strip() and after.strip():
        first, title = _without_title(after.split())
        titles = ", ".join(filter(None, (title, degrees)))
        return FullName(" ".join(first), " ".join(before.split()), titles)
    words, title = _without_title(name.replace(",", " ").split())
    if len(words) > 2 and _is_suffix(words[-1]):
        degrees = f"{words.pop()} {degrees}".strip()
    start = _last_name_of(words, has_title=bool(title))
    titles = ", ".join(filter(None, (title, degrees)))
    return FullName(" ".join(words[:start]), " ".join(words[start:]), titles)


def is_single_name(name: str) -> bool:
    """Return whether nothing in a name says otherwise: ``&``, a digit, ``GmbH``."""
    return not _NO_PART.search(name)


def starts_with_particle(name: str) -> bool:
    """Return whether it begins with a particle such as the ``de`` of ``de la Fuente``."""
    return name.split(maxsplit=1)[0].casefold() in _PARTICLES


def read_beside(name: str, first: str, last: str) -> FullName:
    """Return what a full name adds to a known first or last name: ``Müller`` next to ``Hans`` is
    the last name, ``Hans Müller`` has both."""
    full_name = read_name(name)
    whole = f"{full_name.first} {full_name.last}".strip()
    if first and not last and not is_within(first, name):
        return full_name._replace(first="", last=whole)
    if last and not first and not is_within(last, name):
        return full_name._replace(first=whole, last="")
    return full_name


def is_within(words: str, text: str) -> bool:
    """Return whether the text has all of the words, in any order."""
    return set(_WORD.findall(words.casefold())) <= set(_WORD.findall(text.casefold()))


def _without_degrees(name: str) -> tuple[str, str]:
    """Return the name without the degrees after commas, and the degrees: ``Lee, Ann, MD``."""
    degrees: list[str] = []
    while (cut := name.rfind(",")) > 0:
        words = name[cut + 1 :].split()
        if not (words and all(map(_is_suffix, words))):
            break
        degrees.insert(0, " ".join(words))
        name = name[:cut]
    return name, ", ".join(degrees)


def _last_name_of(words: list[str], *, has_title: bool) -> int:
    """Return where the last name begins."""
    if len(words) < 2:
        # Dr. Lee: after a title, a single word is the last name.
        return 0 if has_title else 1
    if words[0] in _PARTICLES:
        return 0
    inner = range(1, len(words) - 1)
    return next((i for i in inner if words[i].casefold() in _PARTICLES), len(words) - 1)


def _without_title(words: list[str]) -> tuple[list[str], str]:
    count = 0
    while count < len(words) - 1 and (_is_title(words[count]) or _continues_title(words, count)):
        count += 1
    return words[count:], " ".join(words[:count])


def _is_title(word: str) -> bool:
    plain = word.casefold()
    return plain in _BARE_TITLES or (plain.endswith(".") and plain.rstrip(".") in _TITLES)


def _continues_title(words: list[str], position: int) -> bool:
    """Return whether a title continues: Dr. med. Lee."""
    word = words[position].casefold()
    return position > 0 and word.endswith(".") and word.rstrip(".") in _AFTER_TITLES


def _is_suffix(word: str) -> bool:
    return word.replace(".", "").casefold() in _SUFFIXES
