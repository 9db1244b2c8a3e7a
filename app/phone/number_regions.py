"""The region of a number, and its form for readers."""

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from unicodedata import combining, normalize

from babel.lists import format_list
from phonenumbers import (
    COUNTRY_CODE_TO_REGION_CODE,
    SUPPORTED_REGIONS,
    NumberParseException,
    PhoneNumber,
    PhoneNumberFormat,
    country_code_for_region,
    format_number,
    parse,
    region_code_for_number,
)

from app import languages
from app.errors import Sentence

_NETWORKS = "001"
"""The region of numbers that belong to no country."""
_MOST_LISTED = 5
# Translators: the end of a list of countries, such as "Cuba, Somalia, and 3 more countries"
_MORE = Sentence.ngettext("%(num)s more country", "%(num)s more countries")
# The ISO table of the time zone database abbreviates; these are the full names for sentences.
_NAMES = {
    _NETWORKS: "international networks",
    "AE": "the United Arab Emirates",
    "AC": "Ascension Island",
    "AS": "American Samoa",
    "AX": "the Åland Islands",
    "BL": "Saint Barthélemy",
    "BQ": "the Caribbean Netherlands",
    "BS": "the Bahamas",
    "CC": "the Cocos Islands",
    "CD": "the Democratic Republic of the Congo",
    "CF": "the Central African Republic",
    "CG": "the Republic of the Congo",
    "CK": "the Cook Islands",
    "CZ": "the Czech Republic",
    "DO": "the Dominican Republic",
    "FK": "the Falkland Islands",
    "FO": "the Faroe Islands",
    "GB": "the United Kingdom",
    "GM": "the Gambia",
    "IM": "the Isle of Man",
    "KM": "the Comoros",
    "KN": "Saint Kitts and Nevis",
    "KP": "North Korea",
    "KR": "South Korea",
    "KY": "the Cayman Islands",
    "LC": "Saint Lucia",
    "MF": "Saint Martin",
    "MH": "the Marshall Islands",
    "MM": "Myanmar",
    "MV": "the Maldives",
    "NL": "the Netherlands",
    "PH": "the Philippines",
    "PM": "Saint Pierre and Miquelon",
    "SB": "the Solomon Islands",
    "SH": "Saint Helena",
    "ST": "São Tomé and Príncipe",
    "SX": "Sint Maarten",
    "SZ": "Eswatini",
    "TA": "Tristan da Cunha",
    "TC": "the Turks and Caicos Islands",
    "US": "the United States",
    "VC": "Saint Vincent and the Grenadines",
    "VG": "the British Virgin Islands",
    "VI": "the US Virgin Islands",
    "WS": "Samoa",
    "XK": "Kosovo",
}


def parse_or_none(e164: str) -> PhoneNumber | None:
    """Return the library's object; None if the text isn't a number."""
    try:
        return parse(e164, None)
    except NumberParseException:
        return None


def region_of(e164: str) -> str | None:
    """Return the region of the number itself (``+1 876…`` is JM), ``001`` for networks of no
    country.

    None if the numbering plan does not know the number.
    """
    number = parse_or_none(e164)
    return None if number is None else region_code_for_number(number)


def format_international(e164: str) -> str:
    """Return ``+44 7700 900418`` for readers; a text that can't be parsed is returned as it is."""
    number = parse_or_none(e164)
    if number is None:
        return e164
    return format_number(number, PhoneNumberFormat.INTERNATIONAL)


def regions() -> list[tuple[str, str]]:
    """Return every region that numbers can belong to, as (code, name), in alphabetical order:
    without the article, accents and upper case, so that Å is an A."""
    return list(_named_regions(str(languages.locale())))


@cache
def _named_regions(locale: str) -> tuple[tuple[str, str], ...]:  # noqa: ARG001 - names differ by it
    named = ((code, country_name(code)) for code in SUPPORTED_REGIONS)
    return tuple(sorted(named, key=lambda item: _sort_key(item[1])))


def _sort_key(name: str) -> str:
    letters = normalize("NFKD", name.removeprefix("the ").casefold())
    return "".join(letter for letter in letters if not combining(letter))


def country_name(region: str) -> str:
    """Return the country's name in the current language, in English as a sentence needs it (``the
    United Kingdom``); the code if unknown."""
    if languages.language() != languages.DEFAULT:
        return _translated_name(region)
    return _NAMES.get(region) or _iso_names().get(region, region)


def _translated_name(region: str) -> str:
    if region == _NETWORKS:
        return languages.gettext("international networks")
    name: str = languages.locale().territories.get(region, region)
    return name


def list_countries(regions: Sequence[str]) -> str:
    """Return the names of the countries as a list within a sentence, up to five of them, and how
    many more there are."""
    names = [country_name(region) for region in regions[:_MOST_LISTED]]
    if more := len(regions) - len(names):
        names.append(_MORE(num=more))
    return format_list(names, locale=languages.locale())


class _CountryNames(Sentence):
    """The name of a country, or a list of them, within a stored message."""

    def of_english(self, text: str) -> str | None:
        item, whole_list = _list_patterns()
        if not whole_list.fullmatch(text):
            return None
        names = [
            _MORE.of_english(name) or country_name(_regions_by_name()[name.casefold()])
            for name in item.findall(text)
        ]
        return format_list(names, locale=languages.locale())


_COUNTRY_NAMES = _CountryNames("")


@cache
def _list_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of an item and of a list, in English. Longer names are tried first."""
    names = sorted(_regions_by_name(), key=len, reverse=True)
    item = rf"(?:{'|'.join(map(re.escape, names))}|\d+ more countr(?:y|ies))"
    whole_list = f"{item}(?:(?:, and |, | and ){item})*"
    return re.compile(item, re.IGNORECASE), re.compile(whole_list, re.IGNORECASE)


@cache
def _regions_by_name() -> dict[str, str]:
    named = _iso_names() | _NAMES
    return {name.casefold(): region for region, name in named.items()}


@cache
def _iso_names() -> dict[str, str]:
    lines = files("tzdata.zoneinfo").joinpath("iso3166.tab").read_text("utf-8").splitlines()
    rows = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return {code: name.replace(" & ", " and ") for code, name in rows}


def calling_code(region: str) -> str:
    """Return the calling code of a region: ``+44`` of GB."""
    return f"+{country_code_for_region(region)}"


def region_of_code(text: str, default_region: str | None) -> str | None:
    """Return the region of a calling code (``+44``, ``0044``, ``44``): the default region if it has
    that code, None for an unknown code."""
    digits = text.strip().removeprefix("+").removeprefix("00")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 3):
        return None
    code_regions = COUNTRY_CODE_TO_REGION_CODE.get(int(digits), ())
    if default_region in code_regions:
        return default_region
    return next((region for region in code_regions if region in SUPPORTED_REGIONS), None)
