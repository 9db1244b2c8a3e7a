"""The regions of very many numbers, by patterns made from the library's metadata."""

import re
from collections.abc import Callable
from functools import cache

from phonenumbers import COUNTRY_CODE_TO_REGION_CODE, PhoneMetadata, PhoneNumberDesc

Match = Callable[[str], re.Match[str] | None]

_KINDS = (
    "fixed_line",
    "mobile",
    "toll_free",
    "voip",
    "shared_cost",
    "premium_rate",
    "personal_number",
    "pager",
    "uan",
    "voicemail",
)
"""The most frequent first."""
_NEVER: Match = re.compile(r"(?!)").fullmatch


def quick_region_of(e164: str) -> str | None:
    """As `region_of`, for results of `normalise`: many times faster."""
    length, regions = _country_code(e164[1:4])
    if len(regions) == 1:
        return regions[0]
    national = e164[1 + length :]
    return next((region for region in regions if _matcher(region)(national)), None)


@cache
def _country_code(lead: str) -> tuple[int, tuple[str, ...]]:
    """Return the length of the country code that the digits begin with, and its regions."""
    for length in (1, 2, 3) if lead.isdecimal() else ():
        if regions := COUNTRY_CODE_TO_REGION_CODE.get(int(lead[:length])):
            return length, regions
    return 0, ()


@cache
def _matcher(region: str) -> Match:
    """Return the pattern that separates the numbers of a region from others with its country
    code."""
    metadata = PhoneMetadata.metadata_for_region(region, None)
    if metadata is None:
        return _NEVER
    if metadata.leading_digits:
        return re.compile(metadata.leading_digits, re.ASCII).match
    kinds = "|".join(filter(None, (_pattern(getattr(metadata, kind)) for kind in _KINDS)))
    general = _pattern(metadata.general_desc)
    return re.compile(rf"(?={general}\Z)(?:{kinds})", re.ASCII).fullmatch


def _pattern(described: PhoneNumberDesc | None) -> str:
    """Return the pattern of a kind of numbers; empty if the region has none of them."""
    if described is None or not described.national_number_pattern:
        return ""
    lengths = "|".join(rf"\d{{{length}}}\Z" for length in described.possible_length)
    within = rf"(?={lengths})" if lengths else ""
    return rf"(?:{within}(?:{described.national_number_pattern}))"
