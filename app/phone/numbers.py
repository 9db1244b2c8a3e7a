"""Parses numbers into E.164, with a fast path for ordinary ones.

The rule (for contacts): formatting characters are accepted; without ``+`` the default region
applies; then 8 to 15 digits and "possible" with its area code, in the sense of the library's
metadata, must both hold. A North American number with an extra 1 is refused, where the library
would drop it. Numbers of ordinary shape are decided by patterns made from that metadata, the
library decides the rest; a property test proves that both agree.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from phonenumbers import (
    COUNTRY_CODE_TO_REGION_CODE,
    NumberParseException,
    PhoneMetadata,
    PhoneNumberDesc,
    PhoneNumberFormat,
    ValidationResult,
    format_number,
    is_possible_number_with_reason,
    parse,
)

from app.errors import Sentence
from app.phone.notation import PhoneError, digits_of
from app.phone.number_regions import country_name

MIN_DIGITS = 8
MAX_DIGITS = 15

Match = Callable[[str], re.Match[str] | None]

_e164_patterns: dict[str, Match] = {}
_plausible_patterns: dict[str, Match] = {}
_NORTH_AMERICAN = r"[2-9]\d{2}[2-9]\d{6}"
"""NXX-NXX-XXXX of the North American Numbering Plan: neither area nor exchange begins with 0 or 1,
which the library's general pattern permits."""
_NEVER: Match = re.compile(r"(?!)").fullmatch


def normalise(raw: str, default_region: str | None) -> str:
    """Return a contact's number in E.164. Raises PhoneError with a message.

    ``default_region`` is an ISO 3166 code such as ``GB``; None if numbers need a country code.
    """
    if is_plain_e164(raw):
        return raw
    digits = digits_of(raw)
    if digits[0] == "+":
        if is_plain_e164(digits):
            return digits
    elif default_region and (national := _in_region(digits, default_region)):
        return national
    return _normalise_with_library(digits, default_region)


def normalise_written(raw: str, default_region: str | None) -> str:
    """As `normalise`, and read a leading 00 as + where no number of the region begins so. For what
    users enter; the APIs read numbers as the contract says."""
    text = raw.strip()
    if not text.startswith("00"):
        return normalise(raw, default_region)
    with suppress(PhoneError):
        national = normalise(text, default_region)
        if is_plausible(national):
            return national
    return normalise(f"+{text.removeprefix('00')}", None)


def is_plain_e164(text: str) -> bool:
    """Return True if ``normalise`` returns the text unchanged; False only means that it may not."""
    if text[:1] != "+":
        return False
    lead = text[1:4]
    match = _e164_patterns.get(lead) or _e164_pattern(lead)
    return match(text) is not None


def is_plausible(e164: str) -> bool:
    """Return whether the numbering plan has room for the number: a cheap test that refuses nothing.

    A number that ``normalise`` accepts may still be too short for its kind.
    """
    matcher = _plausible_patterns.get(e164[1:4]) or _plausible_pattern(e164[1:4])
    return matcher(e164) is not None


def _plausible_pattern(lead: str) -> Match:
    code = _country_code(lead) if _is_lead(lead) else None
    if code is None:
        return _NEVER
    general = _general_desc(_main_metadata(code)).national_number_pattern or "(?!)"
    national = _NORTH_AMERICAN if code == "1" else general
    match = re.compile(rf"\+{code}(?:{national})", re.ASCII).fullmatch
    _plausible_patterns[lead] = match
    return match


def _is_lead(lead: str) -> bool:
    """Return whether a country code can begin with these digits: none begins with 0."""
    return len(lead) == 3 and lead.isascii() and lead.isdigit() and lead[0] != "0"


def _country_code(lead: str) -> str | None:
    """Return the country code that three leading digits begin with; no code is a prefix of
    another."""
    for length in (1, 2, 3):
        if int(lead[:length] or 0) in COUNTRY_CODE_TO_REGION_CODE:
            return lead[:length]
    return None


def _main_metadata(code: str) -> PhoneMetadata:
    region = COUNTRY_CODE_TO_REGION_CODE[int(code)][0]
    metadata = PhoneMetadata.metadata_for_region_or_calling_code(int(code), region)
    if metadata is None:
        message = f"no metadata for country code {code}"
        raise LookupError(message)
    return metadata


def _general_desc(metadata: PhoneMetadata) -> PhoneNumberDesc:
    if metadata.general_desc is None:
        message = f"no general description for {metadata.id}"
        raise LookupError(message)
    return metadata.general_desc


def _e164_pattern(lead: str) -> Match:
    """Return the pattern for numbers whose first three digits are ``lead``; compiled once per
    country code.

    It excludes what the library would rewrite (a trunk prefix after the country code).
    """
    if not _is_lead(lead):
        return _NEVER
    code = _country_code(lead)
    match = _pattern_of_code(code) if code else _NEVER
    _e164_patterns[lead] = match
    return match


@cache
def _pattern_of_code(code: str) -> Match:
    metadata = _main_metadata(code)
    lengths = [
        length
        for length in _general_desc(metadata).possible_length
        if MIN_DIGITS <= length + len(code) <= MAX_DIGITS
    ]
    if not lengths:
        return _NEVER
    prefix = metadata.national_prefix_for_parsing
    rewritten = rf"(?!(?:{prefix})(?<!\+{code}))" if prefix else ""
    digits = "|".join(f"[0-9]{{{length}}}" for length in lengths)
    return re.compile(rf"\+{code}{rewritten}(?:{digits})").fullmatch


@dataclass(frozen=True, slots=True)
class _RegionRules:
    """The rules for national numbers of one region."""

    code: str
    kept_trunk: str
    international: re.Pattern[str]
    trunk: re.Pattern[str] | None
    rewrites: bool
    general: re.Pattern[str]
    lengths: frozenset[int]


@cache
def _region_rules(region: str) -> _RegionRules | None:
    metadata = PhoneMetadata.metadata_for_region(region, None)
    if metadata is None:
        return None
    code = str(metadata.country_code)
    possible = set(_general_desc(metadata).possible_length)
    possible &= set(_general_desc(_main_metadata(code)).possible_length)
    prefix = metadata.national_prefix_for_parsing
    return _RegionRules(
        code=code,
        kept_trunk=_main_metadata(code).national_prefix or "+",
        international=re.compile(metadata.international_prefix or "(?!)"),
        trunk=re.compile(prefix) if prefix else None,
        rewrites=bool(metadata.national_prefix_transform_rule),
        general=re.compile(_general_desc(metadata).national_number_pattern or "(?!)"),
        lengths=frozenset(
            length for length in possible if MIN_DIGITS <= length + len(code) <= MAX_DIGITS
        ),
    )


def _in_region(digits: str, default_region: str) -> str | None:
    """Return the E.164 form of a national number to which no rule but the trunk prefix applies;
    else None."""
    region = _region_rules(default_region)
    if region is None or digits.startswith(region.code) or region.international.match(digits):
        return None
    national = digits
    if region.trunk and (trunk := region.trunk.match(digits)) and trunk.end():
        if region.rewrites or region.general.fullmatch(digits):
            return None
        national = digits[trunk.end() :]
    if len(national) not in region.lengths or national.startswith(region.kept_trunk):
        return None
    return f"+{region.code}{national}"


def _normalise_with_library(digits: str, default_region: str | None) -> str:
    international = digits[0] == "+"
    if not international and not default_region:
        raise PhoneError("country_missing", _COUNTRY_MISSING())
    # Without a region, a + number with an unknown code is never read as a national one.
    region = None if international else default_region
    try:
        number = parse(digits, region)
    except NumberParseException as error:
        raise _unparsable_problem(digits, region, error) from None
    code = number.country_code or 0
    verdict = is_possible_number_with_reason(number)
    if verdict not in {ValidationResult.IS_POSSIBLE, ValidationResult.IS_POSSIBLE_LOCAL_ONLY}:
        raise _wrong_length_problem(digits, region, code, verdict)
    e164 = format_number(number, PhoneNumberFormat.E164)
    if len(e164) <= MIN_DIGITS or _begins_with_trunk(e164, code):
        raise _wrong_length_problem(digits, region, code, ValidationResult.TOO_SHORT)
    if verdict == ValidationResult.IS_POSSIBLE_LOCAL_ONLY:
        raise _wrong_length_problem(digits, region, code, verdict)
    if code == 1 and digits.lstrip("+").startswith("11"):
        # The library drops every extra 1; the rest is not the number that was written.
        raise _wrong_length_problem(digits, region, code, ValidationResult.TOO_LONG)
    if not _is_stable(e164):
        raise _wrong_length_problem(digits, region, code, ValidationResult.TOO_LONG)
    if len(e164) - 1 > MAX_DIGITS:
        raise PhoneError("too_long", _TOO_LONG_WITH_CODE(num=len(e164) - 1, most=MAX_DIGITS))
    return e164


def _begins_with_trunk(e164: str, code: int) -> bool:
    """Return whether the library keeps a trunk prefix (0612…) because the rest alone would be too
    short."""
    trunk = _main_metadata(str(code)).national_prefix
    national = e164[1 + len(str(code)) :]
    return bool(trunk) and national.startswith(trunk or "") and not is_plausible(e164)


def _is_stable(e164: str) -> bool:
    """Return whether parsing the result again leaves it unchanged. From ``+86 0 110001000000`` the
    library removes the 0, and the next time a carrier's code: another number."""
    try:
        return format_number(parse(e164, None), PhoneNumberFormat.E164) == e164
    except NumberParseException:
        return False


def _unparsable_problem(digits: str, region: str | None, error: NumberParseException) -> PhoneError:
    count = len(digits.lstrip("+"))
    if error.error_type == NumberParseException.TOO_LONG:
        return PhoneError("too_long", _TOO_LONG(num=count, most=MAX_DIGITS))
    if error.error_type != NumberParseException.INVALID_COUNTRY_CODE:
        return PhoneError("too_short", _TOO_SHORT(num=count, needed=MIN_DIGITS))
    if region:
        return PhoneError("country_missing", _NO_REGION(region=region))
    return PhoneError("country_unknown", _COUNTRY_UNKNOWN(digits=digits[1:4]))


def _wrong_length_problem(
    digits: str, region: str | None, country_code: int, verdict: int
) -> PhoneError:
    """Say how many digits there are, counted as they were written, and how many are right."""
    code = str(country_code)
    metadata = _main_metadata(code)
    regions = COUNTRY_CODE_TO_REGION_CODE[country_code]
    trunk = metadata.national_prefix or ""
    national, count, lead = digits, _DIGITS, ""
    if digits.startswith(f"+{code}"):
        national, count, lead = digits[1 + len(code) :], _DIGITS_AFTER_CODE, f"+{code}"
    elif trunk and digits.startswith(trunk):
        national, count, lead = digits[len(trunk) :], _DIGITS_AFTER_TRUNK, trunk
    possible = _general_desc(metadata).possible_length
    if lead and len(national) in possible and national.startswith(trunk):
        # Too short only because no number here begins with the trunk prefix.
        national, lead = national[len(trunk) :], f"{lead} {trunk}"
    if region in regions:
        country = country_name(region)
    else:
        country = _NORTH_AMERICA() if country_code == 1 else country_name(regions[0])
    kind, template = _MISFITS[verdict]
    if verdict == ValidationResult.TOO_LONG and not lead:
        template = _TOO_LONG_WITHOUT_CODE
    needed = _join_lengths([n for n in possible if n + len(code) >= MIN_DIGITS] or [MIN_DIGITS])
    message = template(
        country_words=country,
        digits_words=count(num=len(national), lead=lead),
        needed_words=needed,
    )
    return PhoneError(kind, message)


_COUNTRY_MISSING = Sentence.gettext("The country is missing. Start with + and the country code.")
_COUNTRY_UNKNOWN = Sentence.gettext(
    "No country code starts with +%(digits)s. Check the first digits."
)
_NO_REGION = Sentence.gettext("%(region)s is not a region with phone numbers.")
_TOO_SHORT = Sentence.ngettext(
    "Too short: %(num)s digit, %(needed)s are needed with the country code.",
    "Too short: %(num)s digits, %(needed)s are needed with the country code.",
)
_TOO_LONG = Sentence.ngettext(
    "Too long: %(num)s digit, %(most)s at most.", "Too long: %(num)s digits, %(most)s at most."
)
_TOO_LONG_WITH_CODE = Sentence.ngettext(
    "Too long: %(num)s digit with the country code. Use at most %(most)s.",
    "Too long: %(num)s digits with the country code. Use at most %(most)s.",
)
# Translators: numbers of North America, in place of the name of a country
_NORTH_AMERICA = Sentence.gettext("+1 numbers")
# Translators: part of "Too short for Germany: 3 digits after +49, 6 to 13 are needed."
_DIGITS = Sentence.ngettext("%(num)s digit", "%(num)s digits")
# Translators: lead is a country code, such as +49
_DIGITS_AFTER_CODE = Sentence.ngettext(
    "%(num)s digit after %(lead)s", "%(num)s digits after %(lead)s"
)
# Translators: lead is what national numbers begin with, such as 0
_DIGITS_AFTER_TRUNK = Sentence.ngettext(
    "%(num)s digit after the %(lead)s", "%(num)s digits after the %(lead)s"
)
# Translators: numbers of digits: "6 to 13", "6, 8 or 9"
_FROM_TO = Sentence.gettext("%(first)s to %(last)s")
_ONE_OR_OTHER = Sentence.gettext("%(first)s or %(last)s")
# Translators: country_words is the name of a country ("the United States"), digits_words a number
# of digits ("3 digits after +49"), needed_words are numbers ("6 to 13").
_AREA_CODE_MISSING = Sentence.gettext(
    "The area code is missing for %(country_words)s: %(digits_words)s, %(needed_words)s are needed."
)
_TOO_SHORT_FOR = Sentence.gettext(
    "Too short for %(country_words)s: %(digits_words)s, %(needed_words)s are needed."
)
_TOO_LONG_FOR = Sentence.gettext(
    "Too long for %(country_words)s: %(digits_words)s, %(needed_words)s are needed."
)
_TOO_LONG_WITHOUT_CODE = Sentence.gettext(
    "Too long for %(country_words)s: %(digits_words)s, %(needed_words)s are needed. For another "
    "country, start with + and its code."
)
_NOT_A_LENGTH_OF = Sentence.gettext(
    "Not a length of %(country_words)s: %(digits_words)s, %(needed_words)s are needed."
)
_NOT_A_NUMBER_OF = Sentence.gettext(
    "Not a number of %(country_words)s: %(digits_words)s, %(needed_words)s are needed."
)
_MISFITS = {
    ValidationResult.IS_POSSIBLE_LOCAL_ONLY: ("area_code_missing", _AREA_CODE_MISSING),
    ValidationResult.TOO_SHORT: ("too_short", _TOO_SHORT_FOR),
    ValidationResult.TOO_LONG: ("too_long", _TOO_LONG_FOR),
    ValidationResult.INVALID_LENGTH: ("wrong_length", _NOT_A_LENGTH_OF),
    ValidationResult.INVALID_COUNTRY_CODE: ("country_unknown", _NOT_A_NUMBER_OF),
}


def _join_lengths(lengths: list[int]) -> str:
    if len(lengths) > 2 and lengths[-1] - lengths[0] == len(lengths) - 1:
        return _FROM_TO(first=lengths[0], last=lengths[-1])
    *first, last = map(str, lengths)
    return _ONE_OR_OTHER(first=", ".join(first), last=last) if first else last
