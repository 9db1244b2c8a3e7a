"""Texts that become E.164 numbers, and the messages for those that are refused."""

import phonenumbers
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.phone import PhoneError, is_plain_e164, is_plausible, normalise


@pytest.mark.parametrize(
    ("raw", "region", "e164"),
    [
        ("+12025550123", None, "+12025550123"),
        ("(202) 555-0123", "US", "+12025550123"),
        ("1 202.555.0123", "US", "+12025550123"),
        ("011 44 20 7946 0000", "US", "+442079460000"),
        ("07700 900418", "GB", "+447700900418"),
        ("+44 (0)20 7946 0000", None, "+442079460000"),
        ("(+44) 20 7946 0000", "US", "+442079460000"),
        ("0044 20 7946 0000", "GB", "+442079460000"),
        ("030/1234567", "DE", "+49301234567"),
        ("+39 06 1234 5678", None, "+390612345678"),
        ("  +34\u00a0612\u00a0555\u2011019 ", None, "+34612555019"),
        ("0412 345 678", "AU", "+61412345678"),
    ],
)
def test_a_number_is_read_as_people_write_it(raw: str, region: str | None, e164: str) -> None:
    assert normalise(raw, region) == e164


@pytest.mark.parametrize(
    ("raw", "region", "code", "message"),
    [
        ("", "US", "empty", "Enter a phone number."),
        ("-", "US", "empty", "Enter a phone number."),
        (
            "0770 0",
            "GB",
            "too_short",
            "Too short for the United Kingdom: 4 digits after the 0, 7, 9 or 10 are needed.",
        ),
        (
            "06 12 34 56 7",
            "FR",
            "too_short",
            "Too short for France: 8 digits after the 0, 9 are needed.",
        ),
        (
            "+1 202 555 01234",
            None,
            "too_long",
            "Too long for +1 numbers: 11 digits after +1, 10 are needed.",
        ),
        (
            "202 555 012",
            "US",
            "too_short",
            "Too short for the United States: 9 digits, 10 are needed.",
        ),
        (
            "+999 1234 5678",
            "GB",
            "country_unknown",
            "No country code starts with +999. Check the first digits.",
        ),
        (
            "+0 7700 900418",
            "GB",
            "country_unknown",
            "No country code starts with +077. Check the first digits.",
        ),
        (
            "202 555 0123",
            None,
            "country_missing",
            "The country is missing. Start with + and the country code.",
        ),
        ("1-800-FLOWERS", "US", "letters", "Has letters. Write the number in digits."),
        (
            "+1202555０123",
            None,
            "unreadable_characters",
            "The digit ０ is not 0 to 9. Type the number again.",
        ),
        (
            "\u202a+12025550123",
            None,
            "unreadable_characters",
            "Has an invisible character (U+202A). Type the number again.",
        ),
        (
            "202-555-0123 ext. 5",
            "US",
            "extension",
            "Has an extension. Enter only the number.",
        ),
        (
            "202-555-0123; 202-555-0124",
            "US",
            "several_phones",
            "Several numbers in one field. Enter only one.",
        ),
        (
            "(202) 555-0123 (202) 555-0124",
            "US",
            "several_phones",
            "Several numbers in one field. Enter only one.",
        ),
        (
            "+1 123 555 0101",
            None,
            "too_short",
            "Too short for +1 numbers: 9 digits after +1 1, 10 are needed.",
        ),
        (
            "1 1 202 555 0143",
            "US",
            "too_long",
            "Too long for the United States: 11 digits after the 1, 10 are needed.",
        ),
        (
            "0170 1234567",
            "US",
            "too_long",
            (
                "Too long for the United States: 11 digits, 10 are needed. For another country, "
                "start with + and its code."
            ),
        ),
        (
            "+1 1 202 555 0143",
            None,
            "too_long",
            "Too long for +1 numbers: 11 digits after +1, 10 are needed.",
        ),
        (
            "030 1234567/8",
            "DE",
            "several_phones",
            "Several numbers in one field. Enter only one.",
        ),
        (
            "555-0143",
            "US",
            "area_code_missing",
            "The area code is missing for the United States: 7 digits, 10 are needed.",
        ),
        (
            "+15550143",
            None,
            "area_code_missing",
            "The area code is missing for +1 numbers: 7 digits after +1, 10 are needed.",
        ),
        (
            "12+12025550123",
            "US",
            "plus_misplaced",
            "Write + once, in front of the number.",
        ),
    ],
)
def test_a_refusal_says_what_is_wrong(
    raw: str, region: str | None, code: str, message: str
) -> None:
    with pytest.raises(PhoneError) as refused:
        normalise(raw, region)
    assert (refused.value.code, refused.value.message) == (code, message)


def _library_verdict(digits: str, region: str) -> str | None:
    """The rule as decided, said by the library alone: and a trunk prefix is never kept, nor a 1
    before a 1 dropped."""
    try:
        number = phonenumbers.parse(digits, None if digits[0] == "+" else region)
    except phonenumbers.NumberParseException:
        return None
    e164 = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    main = phonenumbers.region_code_for_country_code(number.country_code or 0)
    trunk = phonenumbers.ndd_prefix_for_region(main, strip_non_digits=False)
    national = phonenumbers.national_significant_number(number)
    if trunk and national.startswith(trunk) and not is_plausible(e164):
        return None
    if number.country_code == 1 and digits.lstrip("+").startswith("11"):
        return None
    in_range = 8 <= len(e164) - 1 <= 15
    verdict = phonenumbers.is_possible_number_with_reason(number)
    return e164 if in_range and verdict == phonenumbers.ValidationResult.IS_POSSIBLE else None


def _verdict(digits: str, region: str) -> str | None:
    try:
        return normalise(digits, region)
    except PhoneError:
        return None


REGIONS = st.sampled_from(sorted(phonenumbers.SUPPORTED_REGIONS))
CODES = st.sampled_from(sorted(phonenumbers.COUNTRY_CODE_TO_REGION_CODE))
DIGITS = st.text("0123456789", min_size=1, max_size=16)


@settings(max_examples=600, deadline=None)
@given(region=REGIONS, code=CODES, lead=st.sampled_from(["+", "", "0", "00"]), rest=DIGITS)
def test_international_numbers_get_the_verdict_of_the_library(
    region: str, code: int, lead: str, rest: str
) -> None:
    digits = f"{lead}{code}{rest}"
    assert _verdict(digits, region) == _library_verdict(digits, region)


@settings(max_examples=600, deadline=None)
@given(region=REGIONS, lead=st.sampled_from(["", "0", "1", "8", "15"]), data=st.data())
def test_national_numbers_get_the_verdict_of_the_library(
    region: str, lead: str, data: st.DataObject
) -> None:
    example = phonenumbers.example_number(region)
    national = phonenumbers.national_significant_number(example) if example else "12345678"
    cut = data.draw(st.integers(0, len(national)))
    digits = lead + national[:cut] + data.draw(st.text("0123456789", max_size=8)) or "0"
    assert _verdict(digits, region) == _library_verdict(digits, region)


@example("+860110001000000")
@example("+860110000000000")
@settings(max_examples=300, deadline=None)
@given(st.text(max_size=20) | st.from_regex(r"\+[0-9]{7,15}[\n０x ]?", fullmatch=True))
def test_an_accepted_number_is_e164_and_is_read_as_itself(raw: str) -> None:
    e164 = _verdict(raw, "US")
    if e164 is not None:
        assert e164.isascii()
        assert 8 <= len(e164) - 1 <= 15
        assert normalise(e164, None) == e164


@pytest.mark.parametrize(
    "text", ["+12025550123\n", "+1202555０123", "+120255501234", "12025550123", "+", "", "+1²3"]
)
def test_only_strict_e164_is_plain(text: str) -> None:
    assert is_plain_e164("+12025550123")
    assert not is_plain_e164(text)


@pytest.mark.parametrize(
    ("e164", "plausible"),
    [
        ("+12025550123", True),
        ("+12021550123", False),
        ("+15550100", False),
        ("+44770090077", False),
        ("bad", False),
    ],
)
def test_a_number_without_room_in_its_plan_is_implausible(e164: str, plausible: bool) -> None:
    assert is_plausible(e164) is plausible
