"""The region of a number, and its calling hours."""

from datetime import UTC, datetime, time
from random import Random

import pytest
from phonenumbers import (
    COUNTRY_CODE_TO_REGION_CODE,
    SUPPORTED_REGIONS,
    PhoneNumberFormat,
    PhoneNumberType,
    example_number_for_type,
    format_number,
)

from app import languages
from app.phone import (
    country_name,
    format_international,
    is_plain_e164,
    quick_region_of,
    region_of,
    regions,
    timezones_of,
    within_calling_hours,
)

START, END = time(8), time(21)


@pytest.mark.parametrize(
    ("e164", "region"),
    [
        ("+12025550123", "US"),
        ("+16135550123", "CA"),
        ("+18762345678", "JM"),
        ("+447400123456", "GB"),
        ("+881612345678", "001"),
        ("+447700900123", None),
        ("nothing", None),
    ],
)
def test_a_number_has_its_region(e164: str, region: str | None) -> None:
    assert region_of(e164) == region


def test_numbers_are_shown_in_international_form() -> None:
    assert format_international("+447700900418") == "+44 7700 900418"
    assert format_international("call me") == "call me"


def test_country_names_have_their_article_in_a_sentence() -> None:
    names = [country_name(code) for code in ("GB", "US", "BA", "XX")]
    assert names == ["the United Kingdom", "the United States", "Bosnia and Herzegovina", "XX"]
    listed = dict(regions())
    assert len(listed) > 200
    assert listed["DE"] == "Germany"
    order = list(listed)
    assert order.index("AX") < order.index("BH")
    assert order.index("CI") < order.index("CZ")


@pytest.mark.parametrize(
    ("e164", "zones"),
    [
        ("+12025550123", ("America/New_York",)),
        ("+447400123456", ("Europe/London",)),
        ("+34612345678", ("Europe/Madrid", "Africa/Ceuta", "Atlantic/Canary")),
        ("+881612345678", ()),
        ("nothing", ()),
    ],
)
def test_a_number_has_its_time_zones(e164: str, zones: tuple[str, ...]) -> None:
    assert timezones_of(e164) == zones


def test_a_number_without_area_code_has_every_zone_of_its_country() -> None:
    zones = timezones_of("+18005550199")
    assert {"America/New_York", "America/Los_Angeles", "Pacific/Honolulu"} <= set(zones)


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("e164", "at", "expected"),
    [
        ("+12025550123", "2026-11-21T12:59", (False, "2026-11-21T13:00")),
        ("+12025550123", "2026-11-21T13:00", (True, "2026-11-21T13:00")),
        ("+12025550123", "2026-11-22T01:59", (True, "2026-11-22T01:59")),
        ("+12025550123", "2026-11-22T02:00", (False, "2026-11-22T13:00")),
        # Toll-free: New York closes at 02:00, Hawaii opens at 18:00.
        ("+18005550199", "2026-11-21T14:00", (False, "2026-11-21T18:00")),
        ("+18005550199", "2026-11-22T02:00", (False, "2026-11-22T18:00")),
        # Madrid's clocks go forward in that night: eight o'clock comes at 06:00 instead of 07:00.
        ("+34912345678", "2026-03-28T22:00", (False, "2026-03-29T06:00")),
        ("+34912345678", "2026-10-24T22:00", (False, "2026-10-25T07:00")),
    ],
)
def test_calling_hours_hold_in_every_zone_of_the_number(
    e164: str, at: str, expected: tuple[bool, str]
) -> None:
    allowed, next_at = expected
    assert within_calling_hours(e164, START, END, _at(at)) == (allowed, _at(next_at))


def test_a_number_of_no_known_zone_is_never_within_calling_hours() -> None:
    assert within_calling_hours("+881612345678", START, END, _at("2026-11-21T12:00")) == (
        False,
        None,
    )


def test_hours_too_narrow_for_all_zones_never_come() -> None:
    assert within_calling_hours("+79161234567", time(9), time(12), _at("2026-11-21T12:00")) == (
        False,
        None,
    )


def test_calling_hours_need_a_zone_and_an_order() -> None:
    with pytest.raises(ValueError, match="calling hours need"):
        within_calling_hours("+12025550123", START, END, datetime(2026, 11, 21))  # noqa: DTZ001 the case
    with pytest.raises(ValueError, match="calling hours need"):
        within_calling_hours("+12025550123", END, START, _at("2026-11-21T12:00"))


def test_regions_are_named_in_the_current_language() -> None:
    for language, names in (("de", ("Deutschland", "Italien")), ("en", ("Germany", "Italy"))):
        with languages.using_language(language):
            named = dict(regions())
            assert (named["DE"], named["IT"]) == names


@pytest.mark.parametrize(
    ("language", "first"),
    [
        ("en", ["Afghanistan", "the Åland Islands", "Albania"]),
        ("de", ["Afghanistan", "Ägypten", "Ålandinseln", "Albanien"]),
        ("es", ["Afganistán", "Albania", "Alemania"]),
        ("fr", ["Afghanistan", "Afrique du Sud", "Albanie", "Algérie"]),
    ],
)
def test_countries_are_listed_by_their_letters_without_accents(
    language: str, first: list[str]
) -> None:
    with languages.using_language(language):
        assert [name for _code, name in regions()][: len(first)] == first


def test_regions_in_bulk_equal_those_one_by_one() -> None:
    digits = Random(7)
    numbers = {
        format_number(example, PhoneNumberFormat.E164)
        for region in SUPPORTED_REGIONS
        for kind in PhoneNumberType.values()
        if (example := example_number_for_type(region, kind))
    } | {
        f"+{code}{digits.randrange(10**8, 10**10)}"
        for code in (*COUNTRY_CODE_TO_REGION_CODE, *[1, 7, 44] * 30)
        for _ in range(4)
    }
    readable = [number for number in numbers if is_plain_e164(number)]
    assert len(readable) > 1000
    assert [quick_region_of(each) for each in readable] == [region_of(each) for each in readable]
    assert quick_region_of("nothing") is None
