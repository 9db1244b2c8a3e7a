"""Problems in the reader's language fit into the encoding of the downloaded file."""

import csv

import pytest

from app.contact_files.writing import DelimitedWriter, MarkedRow

GERMAN, FRENCH = "„12“ gilt als Straße", "Trop court\u202f: «\u202f7\u202f» à 10"


@pytest.mark.parametrize(
    ("encoding", "written"),
    [
        ("cp1252", [GERMAN, 'Trop court : " 7 " à 10']),
        ("cp1251", ['"12" gilt als Strasse', 'Trop court : " 7 " a 10']),
        ("utf-8-sig", [GERMAN, FRENCH]),
    ],
)
def test_marks_and_accents_that_an_encoding_lacks_are_written_plainly(
    encoding: str, written: list[str]
) -> None:
    sent = DelimitedWriter(",", encoding).rows([MarkedRow([GERMAN, FRENCH])])
    assert list(csv.reader([sent.decode(encoding)])) == [written]
