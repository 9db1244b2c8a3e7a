"""Find the columns of names in a file without column names, by their values.

A wrong guess costs more than a missing one: companies, places, codes and answers aren't names.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence
from functools import cache

from babel import Locale

from app import languages
from app.contact_files.full_names import is_single_name, read_name, starts_with_particle
from app.models.folding import fold
from app.validation.time_zones import time_zones


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MAX_NAME_LENGTH = 40
_MAX_WORDS = 4
_FULL_NAME = re.compile(r"[^\W\d_]+(?:[ .,'’-]+[^\W\d_]+){1,4}\.?")
_NEARLY_ALL = 0.8
_COMPARED = 50
"""Maximum rows compared: in more, common names repeat too."""
_ENOUGH = 3
"""Minimum rows to distinguish full names from places of two words, such as San Diego."""
_APOSTROPHES = ("'", "’", "ʼ", "‘", "`", "´")
_BETWEEN = frozenset(" .-‐‑·・").union(_APOSTROPHES)
"""Characters between the letters of a name: O’Neill, Jean-Luc, J. R."""
_FIRST_NAMES = _word_set(
    """
aisha alex alexander ali amy ana andrea andreas andrew angela ann anna anne anthony antonio
barbara ben bob brian carlos carmen carol catherine charles chris christian christine christopher
claudia cynthia daniel david deborah diego donald donna edward elena elisabeth elizabeth emily
emma eric fatima francisco frank gabriele george hans heather helen isabel isabelle jack james
jane jason javier jean jeff jennifer jessica jim joe john jonathan jorge jose joseph joshua juan
jurgen karen karin katherine kevin kim klaus kyle laura lauren linda lisa louis lucia luis manuel
marco margaret maria marie mario mark markus martin mary matthew melissa michael michel michelle
miguel mike mohamed mohammed monika nancy natalie nicholas nicolas nicole olivia pamela pascal
patricia patrick paul pedro peter petra philip philippe pierre rachel ralf rebecca richard robert
rosa ruth ryan sabine samuel sandra sara sarah scott sharon sofia sophie stefan stephanie stephen
steven susan susanne teresa thomas timothy tom ursula victoria walter william wolfgang анна иван
мария сергей александр елена ольга наталья дмитрий татьяна
"""
)
"""Common first names, folded: they show which of several columns has the names."""
_ANSWERS = _word_set(
    """
yes no true false none unknown active inactive new open closed lead leads customer client prospect
contact member guest vip mobile cell home work office other main phone email male female mr mrs ms
miss dr single married divorced monday tuesday wednesday thursday friday saturday sunday english
german french spanish sales marketing manager director owner ja nein offen neu aktiv inaktiv kunde
interessent mobil privat geschaftlich herr frau mannlich weiblich deutsch englisch oui non nouveau
actif inactif monsieur madame homme femme si nuevo activo inactivo cliente hombre mujer senor
senora
"""
)
"""Folded words that fill a column of contacts but aren't names."""
_OF_COMPANIES = _word_set(
    """
inc llc ltd limited gmbh ag kg ohg ug corp corporation company co plc llp sa sarl sas srl sl bv nv
oy ab spa pty group holding holdings services service solutions systems partners associates
consulting agency clinic dental medical hospital pharmacy hotel restaurant cafe bakery bank
insurance school university church foundation motors garage plumbing roofing construction realty
properties logistics studio studios salon software technologies media praxis apotheke klinik
autohaus stadtwerke verein bau handel restaurante clinica
"""
)
"""Words after the first one in the names of companies and institutions, folded."""


def find_names(columns: Sequence[Sequence[str]], free: Collection[int]) -> dict[int, str]:
    """Return the fields of the columns of names among the ``free`` ones: two adjacent ones are the
    first and the last name; one alone is the full name if it has several words."""
    filled = {index: [value for value in columns[index] if value] for index in free}
    names = [index for index, values in filled.items() if _are_names(values)]
    full = [index for index in names if _are_full_names(filled[index])]
    shares = {index: _share_of_first_names(filled[index]) for index in names}

    def is_pair(index: int) -> bool:
        last = index + 1
        is_full = last in full and shares[last] >= shares[index]
        return index not in full and last in names and not is_full

    def likelihood(index: int) -> tuple[float, int, int]:
        is_sure = index in full and len(filled[index]) >= _ENOUGH
        return shares[index], is_sure + (index in full or is_pair(index)), -index

    best = max(names, key=likelihood, default=None)
    if best is None:
        return {}
    if is_pair(best):
        return {best: "firstName", best + 1: "lastName"}
    is_word = all(len(value.split()) == 1 for value in filled[best])
    return {best: "firstName" if is_word else "fullName"}


def _are_names(values: Sequence[str]) -> bool:
    """Return whether nearly all values may be names of people, and most of them differ: of those
    with several words hardly any repeats."""
    if not values or _are_other_values(values):
        return False
    if sum(1 for value in values if " " in value) * 2 > len(values):
        return _are_full_names(values)
    compared = [fold(value) for value in values[:_COMPARED]]
    if len(set(compared)) * 2 <= len(compared):
        return False
    return sum(map(_may_be_name, values)) >= len(values) * _NEARLY_ALL


def _may_be_name(value: str) -> bool:
    """Return whether it is a few words with a capital first letter, in any script."""
    if (
        len(value) > _MAX_NAME_LENGTH
        or len(value.split()) > _MAX_WORDS
        or not is_single_name(value)
    ):
        return False
    if not all(c in _BETWEEN or unicodedata.category(c)[0] in "LM" for c in value):
        return False
    letter = value[2:3] if value[1:2] in _APOSTROPHES else value[0]  # d’Arc
    return letter.isalpha() and (not letter.islower() or starts_with_particle(value))


def _are_full_names(values: Sequence[str]) -> bool:
    """Return whether nearly all values are a first and a last name, and hardly any repeats."""
    full_names = [
        value for value in values if _FULL_NAME.fullmatch(value) and read_name(value).last
    ]
    minimum = len(values) * _NEARLY_ALL
    return len(full_names) >= minimum and len(set(values)) >= minimum


def _are_other_values(values: Sequence[str]) -> bool:
    """Return whether most values are codes, answers or places, or some of them are companies."""
    folded = [fold(value) for value in values]
    codes = sum(1 for value in values if len(value) < 3 and value.isascii() and value.isupper())
    not_names = _ANSWERS | _place_names() - _FIRST_NAMES
    other_values = sum(1 for value in folded if value.rstrip(".") in not_names)
    companies = sum(1 for value in folded if _OF_COMPANIES.intersection(_split_words(value)[1:]))
    return max(codes, other_values) * 2 > len(values) or companies * 5 > len(values)


def _share_of_first_names(values: Sequence[str]) -> float:
    first_names = [_split_words(fold(read_name(value).first)) for value in values]
    return sum(1 for words in first_names if words and words[0] in _FIRST_NAMES) / len(values)


def _split_words(folded: str) -> list[str]:
    return folded.replace(".", "").replace("-", " ").split()


@cache
def _place_names() -> frozenset[str]:
    """Return the countries in the portal's languages and the cities of time zones, folded."""
    names = {zone.rpartition("/")[2].replace("_", " ") for zone in time_zones() if "/" in zone}
    for code in languages.LANGUAGES:
        names.update(Locale.parse(code).territories.values())
    also_names = {"chad", "georgia", "jordan", "paris", "phoenix", "santiago", "sydney"}
    return frozenset(map(fold, names)) - also_names
