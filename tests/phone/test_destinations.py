"""Which numbers may be called."""

import pytest
from phonenumbers import SUPPORTED_REGIONS

from app.phone import DestinationLayer, OpenRegions, PhoneError, check_dialable
from tests.fixtures.open_regions import everywhere_in
from tests.phone.numbers import NUMBERS

ALLOWED = everywhere_in("US", "GB", "DE")

REFUSED = [
    ("not_e164", ["2025550123", "+1 202 555 0123", "+12025550123\n", "+1202555０123", "", "+"]),
    ("not_e164", ["+0442079460000", "+1234567890123456", "tel:+12025550123", "+12025550123x5"]),
    ("not_e164", ["+4407700900123", "+4402079460000", "+491"[:2] + "x"]),
    ("emergency", ["911", "+911", "112", "+112", "999", "+1911", "+44999", "+44112", "+49112"]),
    ("short", ["1202", "+12345", "444444"]),
    ("area_code_missing", ["+15550143", "+4412345678"]),
    ("country_unknown", ["+99912345678", "+21012345678"]),
    ("satellite", ["+881612345678", "+870773111632", "+8835100012345", "+88216123456"]),
    ("premium", ["+19005550199", "+449012345678", "+9791234567890", "+499001234567"]),
    ("shared_cost", ["+80812345678", "+4918012345678"]),
    ("no_country", ["+80012345678", "+888123456789"]),
    ("not_in_use", ["+447700900123", "+11115550123", "+12021550123", "+491101234567"]),
    ("region_not_allowed", ["+18762345678", "+16135550123", "+33612345678"]),
]


@pytest.mark.parametrize(
    ("number", "code"), [(number, code) for code, numbers in REFUSED for number in numbers]
)
def test_a_number_that_may_not_be_called_is_refused_by_its_kind(number: str, code: str) -> None:
    with pytest.raises(PhoneError) as refused:
        check_dialable(number, ALLOWED)
    assert refused.value.code == code


@pytest.mark.parametrize(
    "number",
    ["+12025550123", "+18005550199", "+442079460000", "+447400123456", "+4930901820"],
)
def test_an_ordinary_number_of_an_allowed_region_may_be_called(number: str) -> None:
    assert check_dialable(number, ALLOWED) is None  # type: ignore[func-returns-value]  # the promise


def test_the_region_is_that_of_the_number_not_of_its_country_code() -> None:
    with pytest.raises(PhoneError) as refused:
        check_dialable("+18762345678", everywhere_in("US"))
    assert str(refused.value) == (
        "+18762345678 is in Jamaica, which isn't open for calls. "
        "Only the platform operator can open it."
    )
    check_dialable("+18762345678", everywhere_in("JM"))
    check_dialable("+16135550123", everywhere_in("CA"))


@pytest.mark.parametrize("code", ["satellite", "personal", "pager", "uan", "voicemail"])
def test_no_region_opens_a_kind_that_is_never_called(code: str) -> None:
    everywhere = everywhere_in("001", *SUPPORTED_REGIONS)
    for number in NUMBERS[code]:
        with pytest.raises(PhoneError) as refused:
            check_dialable(number, everywhere)
        assert refused.value.code == code
        assert number in refused.value.message


@pytest.mark.parametrize(
    ("closed", "who"),
    [
        ({DestinationLayer.OPERATOR}, "Only the platform operator can open it."),
        ({DestinationLayer.PARTNER}, "A partner admin can open it in the portal's settings."),
        ({DestinationLayer.ORGANIZATION}, "It can be opened in the organization's settings."),
        (set(DestinationLayer), "Only the platform operator can open it."),
        (
            {DestinationLayer.PARTNER, DestinationLayer.ORGANIZATION},
            "A partner admin can open it in the portal's settings.",
        ),
    ],
)
def test_a_refusal_names_the_closed_country_and_who_can_open_it(
    closed: set[DestinationLayer], who: str
) -> None:
    everywhere = frozenset({"US", "GB"})
    layers = [everywhere - ({"GB"} if layer in closed else set()) for layer in DestinationLayer]
    with pytest.raises(PhoneError) as refused:
        check_dialable("+442079460000", OpenRegions(*layers))
    assert refused.value.message == (
        f"+442079460000 is in the United Kingdom, which isn't open for calls. {who}"
    )


def test_the_sentence_shows_how_to_write_the_number() -> None:
    with pytest.raises(PhoneError) as refused:
        check_dialable("+4402079460000", ALLOWED)
    assert refused.value.message == (
        "Enter + and the country code, 8 to 15 digits in total: +442079460000."
    )


@pytest.mark.parametrize(
    ("number", "spaces"), [("+1 202 555", ", without spaces"), ("2025550123", "")]
)
def test_the_sentence_mentions_spaces_only_if_there_are_any(number: str, spaces: str) -> None:
    with pytest.raises(PhoneError) as refused:
        check_dialable(number, ALLOWED)
    assert refused.value.message == (
        f"Enter + and the country code, 8 to 15 digits in total{spaces}: +442079460000."
    )
