"""Places of addresses, from a file of the operator."""

import os
from pathlib import Path

import pytest

from app.config import Settings
from app.gateways.geolocation import location_of
from tests.fixtures.places_file import KNOWN, UNKNOWN, write_places


@pytest.fixture
def places_file(tmp_path: Path) -> Path:
    return write_places(tmp_path / "places.mmdb")


def test_a_place_is_named_in_the_language_of_the_reader_or_in_english(places_file: Path) -> None:
    named = {language: location_of(places_file, KNOWN, language) for language in ("en", "de", "fr")}
    assert named == {"en": "Berlin, Germany", "de": "Berlin, Deutschland", "fr": "Berlin, Germany"}


@pytest.mark.parametrize("address", [UNKNOWN, "2001:db8::1", "unix:", "", None])
def test_an_address_that_the_file_does_not_know_has_no_place(
    places_file: Path, address: str | None
) -> None:
    assert location_of(places_file, address, "en") is None


def test_without_a_file_and_with_a_damaged_one_there_are_no_places(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.mmdb"
    damaged.write_bytes(b"no database" * 100)
    found = [location_of(file, KNOWN, "en") for file in (None, damaged, tmp_path / "gone.mmdb")]
    assert found == [None, None, None]


def test_a_replaced_file_counts_at_once(places_file: Path, tmp_path: Path) -> None:
    assert location_of(places_file, KNOWN, "en") == "Berlin, Germany"
    newer = write_places(tmp_path / "newer.mmdb", city="Hamburg")
    os.utime(newer, ns=(1, 1))  # also where it is older
    newer.replace(places_file)
    assert location_of(places_file, KNOWN, "en") == "Hamburg, Germany"


def test_a_setting_that_names_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"PORTAL_PLACES_FILE: .*/gone.mmdb isn't a file\."):
        Settings(places_file=tmp_path / "gone.mmdb")
