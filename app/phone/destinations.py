"""Which numbers may be called: one table of kinds, and the regions that are open.

Kinds come from the numbering plans in the phonenumbers library. `RANGES` corrects ranges that the
library classifies differently or calls unassigned, each with its source.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from phonenumbers import (
    SUPPORTED_REGIONS,
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

from app.errors import Sentence
from app.languages import capitalized
from app.phone.notation import PhoneError
from app.phone.number_regions import country_name, parse_or_none

_E164 = re.compile(r"\+[1-9][0-9]{7,14}")
_SHORT = re.compile(r"\+?[0-9]{2,7}")
_NO_REGION = "001"
_EXAMPLE = "+442079460000"

HIGH_RISK = frozenset(
    {
        "AC", "AF", "BI", "BY", "CD", "CF", "CG", "CK", "CU", "DJ", "ER", "EH",
        "FK", "FM", "GM", "GN", "GQ", "GW", "IR", "KI", "KM", "KP", "LR", "LY",
        "MG", "MH", "ML", "MR", "MV", "NE", "NR", "NU", "PG", "PW", "SB", "SD",
        "SH", "SL", "SO", "SS", "ST", "SY", "TD", "TG", "TK", "TL", "TO", "TV",
        "VU", "WF", "WS", "YE", "ZW",
    }
)  # fmt: skip
"""Regions that are closed until the operator opens them: those whose carriers charge much per
minute and few customers call, which attracts toll fraud, and those under broad sanctions. Compare
the fraud loss surveys of the Communications Fraud Control Association (cfca.org)."""
USUAL_REGIONS = frozenset(SUPPORTED_REGIONS) - HIGH_RISK
"""The regions that are open before the operator has decided."""


class NumberRange(NamedTuple):
    """Numbers that begin with ``pattern`` (after the +) and have this kind."""

    pattern: str
    kind: str


RANGES = tuple(
    NumberRange(pattern, kind)
    for pattern, kind in (
        # ITU-T E.164, list of assigned country codes: Inmarsat, global mobile satellite systems,
        # and the two shared codes of international networks.
        (r"870|88[123]", "satellite"),
        (r"878", "personal"),  # ITU-T E.168: universal personal telecommunications
        (r"979", "premium"),  # ITU-T E.169.2: international premium rate service
        (r"808", "shared_cost"),  # ITU-T E.169.3: international shared cost service
        (r"800|888", "no_country"),  # ITU-T E.169.1, and the UN's former code
        # Canadian Numbering Administration, non-geographic area codes: 600 has mobile satellite
        # and caller-pays services.
        (r"1600", "satellite"),
        # NANPA, Central Office Code Assignment Guidelines, unassignable codes: directory
        # assistance, and information delivery that the caller pays for.
        (r"1[2-9][0-9]{2}5551212$", "premium"),
        (r"1[2-9][0-9]{2}976[0-9]{4}$", "premium"),
        # Ofcom, National Telephone Numbering Plan: 070, 076 without the Isle of Man's mobiles,
        # and the numbers of organizations, 03 and 055.
        (r"4470", "personal"),
        (r"4476(?!24)", "pager"),
        (r"44(?:3|55)", "uan"),
        # Bundesnetzagentur, Nummernplan: mass traffic, personal numbers, user groups, inquiries.
        (r"49137", "shared_cost"),
        (r"49700", "personal"),
        (r"4918[1-9]", "uan"),
        (r"49118", "premium"),
    )
)
"""Checked before the library; the first match counts."""

_KINDS = {
    PhoneNumberType.PREMIUM_RATE: "premium",
    PhoneNumberType.SHARED_COST: "shared_cost",
    PhoneNumberType.PERSONAL_NUMBER: "personal",
    PhoneNumberType.PAGER: "pager",
    PhoneNumberType.UAN: "uan",
    PhoneNumberType.VOICEMAIL: "voicemail",
}
_CALLED = {
    PhoneNumberType.FIXED_LINE,
    PhoneNumberType.MOBILE,
    PhoneNumberType.FIXED_LINE_OR_MOBILE,
    PhoneNumberType.TOLL_FREE,
    PhoneNumberType.VOIP,
}

# Translators: the reasons why a number is never called
REFUSALS = {
    "not_e164": Sentence.gettext(
        "Enter + and the country code, 8 to 15 digits in total: %(example)s."
    ),
    "emergency": Sentence.gettext("%(number)s is an emergency number. These are never called."),
    "short": Sentence.gettext("%(number)s is a short number. Only full numbers can be called."),
    "area_code_missing": Sentence.gettext(
        "The area code is missing: write the whole number after %(prefix)s."
    ),
    "country_unknown": Sentence.gettext(
        "No country code matches this number. Check the first digits."
    ),
    "satellite": Sentence.gettext(
        "%(number)s is a satellite or international network number. No one can open these."
    ),
    "no_country": Sentence.gettext(
        "%(number)s is an international number without a country. No one can open these."
    ),
    "premium": Sentence.gettext("%(number)s is a premium-rate number. No one can open these."),
    "shared_cost": Sentence.gettext("%(number)s is a shared-cost number. No one can open these."),
    "personal": Sentence.gettext(
        "%(number)s is a personal (follow-me) number. No one can open these."
    ),
    "pager": Sentence.gettext("%(number)s is a pager. No one can open these."),
    "uan": Sentence.gettext("%(number)s is a company access number (UAN). No one can open these."),
    "voicemail": Sentence.gettext(
        "%(number)s is an access number of a voicemail. No one can open these."
    ),
    "not_in_use": Sentence.gettext("%(country_words)s has no number like this. Check the digits."),
    "region_not_allowed": Sentence.gettext(
        "%(number)s is in %(country_words)s, which isn't open for calls. %(opened_by_words)s"
    ),
}
"""Code and message of every reason not to call."""
_NOT_E164_SPACES = Sentence.gettext(
    "Enter + and the country code, 8 to 15 digits in total, without spaces: %(example)s."
)
# Translators: in place of the name of a country, at the beginning of a sentence
_COUNTRY_CODE = Sentence.gettext("Country code +%(code)s")


class DestinationLayer(StrEnum):
    """A layer that opens regions. A call needs all three."""

    OPERATOR = "operator"
    PARTNER = "partner"
    ORGANIZATION = "organization"


OPENED_BY = {
    DestinationLayer.OPERATOR: Sentence.gettext("Only the platform operator can open it."),
    DestinationLayer.PARTNER: Sentence.gettext(
        "A partner admin can open it in the portal's settings."
    ),
    DestinationLayer.ORGANIZATION: Sentence.gettext(
        "It can be opened in the organization's settings."
    ),
}
"""The role that can open a region, by the layer that closes it."""


@dataclass(frozen=True, slots=True)
class OpenRegions:
    """The regions (ISO 3166 codes) that calls may go to, as opened by each layer."""

    operator: frozenset[str]
    partner: frozenset[str]
    organization: frozenset[str]

    def closed_by(self, region: str) -> DestinationLayer | None:
        """Return the highest layer in which the region is closed; None if calls may go there."""
        for layer in DestinationLayer:
            if region not in getattr(self, layer):
                return layer
        return None

    @property
    def can_be_chosen(self) -> frozenset[str]:
        """Return the regions that the organization may choose from."""
        return self.operator & self.partner

    @property
    def open(self) -> frozenset[str]:
        """Return the regions that calls may go to."""
        return self.can_be_chosen & self.organization


def check_dialable(e164: str, open_regions: OpenRegions) -> None:
    """Raise PhoneError (its code is one of REFUSALS) unless the number may be called.

    A number counts for its own region, not for the first country of its code: +1 876 is Jamaica.
    """
    if not _E164.fullmatch(e164):
        raise _malformed_problem(e164)
    number = parse_or_none(e164)
    if number is None:
        raise _refusal("country_unknown")
    normalized = format_number(number, PhoneNumberFormat.E164)
    if normalized != e164:
        raise _refusal("not_e164", example=normalized)
    _check_kind(number, e164)
    region = region_code_for_number(number) or _NO_REGION
    layer = open_regions.closed_by(region)
    if layer is not None:
        raise _refusal(
            "region_not_allowed",
            number=e164,
            country_words=country_name(region),
            opened_by_words=OPENED_BY[layer](),
        )


def _check_kind(number: PhoneNumber, e164: str) -> None:
    for pattern, kind in RANGES:
        if re.match(pattern, e164[1:]):
            raise _refusal(kind, number=e164)
    kind_of_number = number_type(number)
    if kind_of_number in _KINDS:
        raise _refusal(_KINDS[kind_of_number], number=e164)
    if kind_of_number not in _CALLED:
        raise _unassigned_problem(number, e164)


def _unassigned_problem(number: PhoneNumber, e164: str) -> PhoneError:
    code = number.country_code or 0
    regions = region_codes_for_country_code(code)
    national = national_significant_number(number)
    if any(is_emergency_number(national, region) for region in regions):
        return _refusal("emergency", number=e164)
    if any(is_valid_short_number_for_region(number, region) for region in regions):
        return _refusal("short", number=e164)
    verdict = is_possible_number_with_reason(number)
    if verdict == ValidationResult.IS_POSSIBLE_LOCAL_ONLY:
        return _refusal("area_code_missing", prefix=f"+{code}")
    return _refusal("not_in_use", country_words=_country_subject(regions, code))


def _country_subject(regions: tuple[str, ...], code: int) -> str:
    if len(regions) != 1:
        return _COUNTRY_CODE(code=code)
    return capitalized(country_name(regions[0]))


def _malformed_problem(text: str) -> PhoneError:
    """Return the problem; an emergency or short number is recognized with any prefix."""
    if _SHORT.fullmatch(text):
        digits = text.removeprefix("+")
        number = parse_or_none(text) if text[0] == "+" else None
        national = national_significant_number(number) if number else digits
        code = number.country_code or 0 if number else 0
        regions = [*region_codes_for_country_code(code), "US", "GB"]
        if any(
            is_emergency_number(digit, region) for digit in (digits, national) for region in regions
        ):
            return _refusal("emergency", number=text)
        if len(digits) <= 6:
            return _refusal("short", number=text)
    if " " in text:
        return PhoneError("not_e164", _NOT_E164_SPACES(example=_EXAMPLE))
    return _refusal("not_e164", example=_EXAMPLE)


def _refusal(code: str, **values: str) -> PhoneError:
    return PhoneError(code, REFUSALS[code](**values))
