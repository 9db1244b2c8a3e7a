"""Which numbers may be called: one table of refusals, for every path that ends in a call."""

import re
from collections.abc import Collection

from phonenumbers import (
    PhoneNumber,
    PhoneNumberFormat,
    PhoneNumberType,
    ValidationResult,
    format_number,
    is_possible_number_with_reason,
    is_valid_short_number_for_region,
    national_significant_number,
    number_type,
    region_code_for_number,
    region_codes_for_country_code,
)
from phonenumbers.shortnumberinfo import is_emergency_number

from app.phone.errors import PhoneError
from app.phone.places import country_name, parsed

_E164 = re.compile(r"\+[1-9][0-9]{7,14}")
_SHORT = re.compile(r"\+?[0-9]{2,7}")

SATELLITE_CODES = frozenset({870, 881, 882, 883})
"""Inmarsat, global mobile satellite systems, and the two shared codes of international networks."""
_PREMIUM_CODES = frozenset({979})
_SHARED_COST_CODES = frozenset({808})

REFUSALS = {
    "not_e164": "Enter + and the country code, 8 to 15 digits in total, without spaces: {shape}",
    "emergency": "This is an emergency number. Assistants never call these.",
    "short": "This is a short number. Only full numbers can be called.",
    "area_code_missing": "The area code is missing: write the whole number after {prefix}.",
    "country_unknown": "No country code matches this number. Check the first digits.",
    "satellite": "This is a satellite or international network. Calls to it are not allowed.",
    "premium": "This is a premium-rate number. Assistants never call these.",
    "shared_cost": "This is a shared-cost number. Assistants never call these.",
    "not_in_use": "{country} has no number like this. Check the digits.",
    "region_not_allowed": (
        "Calls to {country} are not allowed. See the organization's allowed regions."
    ),
}
"""Code and sentence of every reason not to call; ``{…}`` is filled in."""


def check_dialable(e164: str, allowed_regions: Collection[str]) -> None:
    """Raises PhoneError (its code is one of REFUSALS) unless the number may be called.

    ``allowed_regions`` are ISO 3166 codes; ``001`` among them allows satellite networks. A number
    counts for its own region, not for the first country of its code: +1 876 is Jamaica.
    """
    if not _E164.fullmatch(e164):
        raise _malformed(e164)
    number = parsed(e164)
    if number is None:
        raise _refusal("country_unknown")
    written = format_number(number, PhoneNumberFormat.E164)
    if written != e164:
        raise _refusal("not_e164", shape=f"{written}.")
    code = number.country_code or 0
    if code in SATELLITE_CODES and "001" not in allowed_regions:
        raise _refusal("satellite")
    _check_kind(number, code)
    region = region_code_for_number(number) or ""
    if region not in allowed_regions:
        raise _refusal("region_not_allowed", country=country_name(region))


def _check_kind(number: PhoneNumber, code: int) -> None:
    kind = number_type(number)
    if kind == PhoneNumberType.PREMIUM_RATE or code in _PREMIUM_CODES:
        raise _refusal("premium")
    if kind == PhoneNumberType.SHARED_COST or code in _SHARED_COST_CODES:
        raise _refusal("shared_cost")
    if kind == PhoneNumberType.UNKNOWN:
        regions = region_codes_for_country_code(code)
        national = national_significant_number(number)
        if any(is_emergency_number(national, region) for region in regions):
            raise _refusal("emergency")
        if any(is_valid_short_number_for_region(number, region) for region in regions):
            raise _refusal("short")
        verdict = is_possible_number_with_reason(number)
        if verdict == ValidationResult.IS_POSSIBLE_LOCAL_ONLY:
            raise _refusal("area_code_missing", prefix=f"+{code}")
        raise _refusal("not_in_use", country=_subject(regions, code))


def _subject(regions: Collection[str], code: int) -> str:
    if len(regions) != 1:
        return f"Country code +{code}"
    name = country_name(next(iter(regions)))
    return name[0].upper() + name[1:]


def _malformed(text: str) -> PhoneError:
    """An emergency or short number is called by its name, whatever stands in front of it."""
    if _SHORT.fullmatch(text):
        digits = text.removeprefix("+")
        number = parsed(text) if text[0] == "+" else None
        national = national_significant_number(number) if number else digits
        code = number.country_code or 0 if number else 0
        regions = [*region_codes_for_country_code(code), "US", "GB"]
        if any(
            is_emergency_number(digit, region) for digit in (digits, national) for region in regions
        ):
            return _refusal("emergency")
        if len(digits) <= 6:
            return _refusal("short")
    return _refusal("not_e164", shape="+442079460000.")


def _refusal(code: str, **facts: str) -> PhoneError:
    return PhoneError(code, REFUSALS[code].format(**facts))
