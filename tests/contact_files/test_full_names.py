"""One name column becomes first name, last name and titles, and nothing that the file lacks."""

import pytest

from app.contact_files.full_names import read_name


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("Aurelia Whitcombe", ("Aurelia", "Whitcombe")),
        ("Whitcombe, Aurelia Jane", ("Aurelia Jane", "Whitcombe")),
        ("Óscar de la Fuente y Montalbán", ("Óscar", "de la Fuente y Montalbán")),
        ("Jan van der Berg", ("Jan", "van der Berg")),
        ("Anna Maria Rossi", ("Anna Maria", "Rossi")),
        ("Cher", ("Cher", "")),
        ("  Ann   Lee ", ("Ann", "Lee")),
        ("Lee,", ("Lee", "")),
        ("de la Cruz", ("", "de la Cruz")),
        ("Mr. & Mrs. Lee", ("Mr. & Mrs. Lee", "")),
        ("Ann Lee (mother)", ("Ann Lee (mother)", "")),
        ("Ann Lee / Bob Li", ("Ann Lee / Bob Li", "")),
        ("Mr. and Mrs. Lee", ("Mr. and Mrs. Lee", "")),
        ("Acme, Inc.", ("Acme, Inc.", "")),
        ("Grüner Gartenbau GmbH", ("Grüner Gartenbau GmbH", "")),
    ],
)
def test_a_full_name_is_split_into_first_and_last_name(name: str, parts: tuple[str, str]) -> None:
    assert read_name(name) == (*parts, "")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("Prof. Dr. med. Ann Lee", ("Ann", "Lee", "Prof. Dr. med.")),
        ("Ann Lee Jr., MD", ("Ann", "Lee", "Jr. MD")),
        ("Dr. Ann Lee, MD", ("Ann", "Lee", "Dr., MD")),
        ("Lee, Ann M., MD", ("Ann M.", "Lee", "MD")),
        ("Frau Lee", ("", "Lee", "Frau")),
    ],
)
def test_titles_and_degrees_are_no_part_of_a_name(name: str, parts: tuple[str, str, str]) -> None:
    assert read_name(name) == parts
