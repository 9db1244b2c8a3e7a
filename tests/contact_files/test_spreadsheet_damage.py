"""Phone numbers damaged by spreadsheets are detected, and repaired only if that is certain."""

import pytest

from app.contact_files import inspect_phone
from app.contact_files.spreadsheet_damage import inspect_country, possible_numbers
from app.phone import normalise

NUMBER = "+447700900418"


@pytest.mark.parametrize(
    ("raw", "region", "code", "repair"),
    [
        ("4.41E+11", "GB", "rounded", None),
        ("4,477E+11", "DE", "rounded", None),
        ("4.47700900418E+11", "GB", "scientific", NUMBER),
        ("447700900418.0", "GB", "decimals", NUMBER),
        ("7700900418.00", "GB", "decimals", NUMBER),
        ("12025550123.0", "US", "decimals", "+12025550123"),
        ("1711234567.5", "DE", "decimals", None),
        ("7700900418", "GB", "leading_zero_lost", NUMBER),
        ("412345678", "AU", "leading_zero_lost", "+61412345678"),
        ("612345678", "IT", "leading_zero_lost", "+390612345678"),
        ("447700900418", "GB", "plus_lost", NUMBER),
        ("4915112345678", "DE", "plus_lost", "+4915112345678"),
        ("491512345600", "DE", "plus_lost", "+491512345600"),
        ("49171123456", "DE", "zero_or_plus_lost", None),
        ("442079460000", "US", "plus_lost", "+442079460000"),
        ("442079460000", None, "plus_lost", "+442079460000"),
        ("17012345678", "DE", "zero_or_plus_lost", None),
        ("0034 600 123 456", "US", "double_zero", "+34600123456"),
        ("'07700900418", "GB", "apostrophe", NUMBER),
        ("07700 900418'", "GB", "apostrophe", NUMBER),
        ("’7700900418", "GB", "apostrophe", NUMBER),
        ("12/05/2020", "GB", "date", None),
        ("12.05.20", "DE", "date", None),
        ("2020-05-12 00:00:00", "GB", "date", None),
        ("12-May-20", "GB", "date", None),
        ("Dez 1955", "DE", "date", None),
        ("########", "GB", "hashes", None),
        ("447,700,900,418", "GB", "thousands", NUMBER),
        ("$2,025,550,101.00", "US", "thousands", "+12025550101"),
        ("£ 447700900418", "GB", "thousands", NUMBER),
        ("-8253", "GB", "calculated", None),
        ("\u202a+44 7700 900418\u202c", "GB", "invisible_marks", NUMBER),
        ("\ufeff7700900418", "GB", "invisible_marks", NUMBER),
        ("+44770090041８", "GB", "look_alikes", NUMBER),
        ("٠٧٧٠٠٩٠٠٤١٨", "GB", "look_alikes", NUMBER),
        ("O77OO 9OO4l8", "GB", None, None),
        ("O7700 900418", "GB", "look_alikes", NUMBER),
    ],
)
def test_damage_is_named_with_its_repair(
    raw: str, region: str | None, code: str | None, repair: str | None
) -> None:
    damage = inspect_phone(raw, region)
    assert (damage.code, damage.repair) == (code, repair) if damage else code is None


def test_both_numbers_are_named_where_a_zero_or_a_plus_is_lost() -> None:
    damage = inspect_phone("49171123456", "DE")
    assert damage
    assert possible_numbers(damage.message) == ("+49171123456", "+4949171123456")
    assert possible_numbers("Leading zero lost.") == ()


@pytest.mark.parametrize(
    ("raw", "region", "repair"),
    [
        ("49 171 1234567", "DE", "+491711234567"),
        ("(49) 171-1234567", "DE", "+491711234567"),
        ("491711234567", "DE", "+491711234567"),
        ("49 1512 345600", "DE", "+491512345600"),
        ("491 71234", "DE", None),
        ("44 7700 900418", "GB", None),
        ("1 202 555 0123", "US", None),
    ],
)
def test_a_number_with_its_own_countrys_code_is_not_read_as_a_national_one(
    raw: str, region: str, repair: str | None
) -> None:
    damage = inspect_country(raw, normalise(raw, region), region)
    assert (damage.code, damage.repair) == ("plus_lost", repair) if damage else repair is None


@pytest.mark.parametrize(
    ("raw", "region"),
    [
        ("9876543210", "IN"),
        ("11912345678", "BR"),
        ("+447700900418", None),
        ("+44 7700 900418", "GB"),
        ("07700 900418", "GB"),
        ("07700900418", "GB"),
        ("(0)7700/900418", "GB"),
        ("2025550123", "US"),
        ("12025550123", "US"),
        ("202-555-0123", "US"),
        ("612345678", "ES"),
        ("3331234567", "IT"),
        ("89161234567", "RU"),
        ("01.02.03.04.05", "FR"),
        ("12 34 56 78", "DK"),
        ("call me", "GB"),
        ("12345", "GB"),
        ("", "GB"),
        ("2025550123", None),
    ],
)
def test_a_number_as_people_write_it_shows_no_damage(raw: str, region: str | None) -> None:
    assert inspect_phone(raw, region) is None


@pytest.mark.parametrize(
    ("raw", "repairs"),
    [
        ("7700900418", {"GB": NUMBER, "DE": "+497700900418"}),
        (
            "447700900418.0",
            {"GB": NUMBER, "DE": "+49447700900418", "IT": "+39447700900418"},
        ),
        (
            "'0612345678",
            {
                "GB": "+44612345678",
                "US": "+10612345678",
                "DE": "+49612345678",
                "IT": "+390612345678",
            },
        ),
    ],
)
@pytest.mark.parametrize("region", ["GB", "US", "DE", "IT", "ES", None])
def test_a_repair_is_a_number_of_the_region_in_e164(
    raw: str, region: str | None, repairs: dict[str | None, str]
) -> None:
    damage = inspect_phone(raw, region)
    assert (damage.repair if damage else None) == repairs.get(region)


@pytest.mark.parametrize("raw", ["7700900418", "447700900418.0", "'0612345678"])
def test_a_repaired_number_is_read_as_it_is(raw: str) -> None:
    damage = inspect_phone(raw, "GB")
    assert damage
    assert damage.repair
    assert normalise(damage.repair, None) == damage.repair
