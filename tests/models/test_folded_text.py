"""Stored text is found by what Python finds in it once folded."""

import pytest
from sqlalchemy import literal, select
from sqlalchemy.orm import Session

from app.models.folded_text import holds_words
from app.models.folding import contains_text

TEXTS = (
    *("List 7.CSV", "Łódź Übersicht.csv", "ŁÓDŹ", "Müller & Söhne", "Mu\u0308ller", "Jolene", "a"),
    *("Straße", "STRASSE", "Þór Ægir", "Œuvre", "Đặng Đình", "İzmir ılık", "Ŋala Ŧeđđ", "ﬁne"),
    *(
        "ｆｕｌｌ Ｗｉｄｔｈ",
        "Пётр",
        "김민준",
        "山田太郎",
        "प्रिया",
        "50 % _a\\b [x].*",
        "Maße",
        "👍 ok",
    ),
)
WORDS = (
    *("lodz", "ŁÓDŹ", "uebersicht", "ubersicht", "MULLER", "mueller", "soehne", "joel", "stras"),
    *("strass", "STRAẞE", "se", "thor aegir", "ægir", "oeuvre", "dang dinh", "izmir ilik", "nala"),
    *(
        "fine",
        "fi",
        "ne",
        "full width",
        "петр",
        "ПЁТР",
        "민준",
        "太郎",
        "प्रिया",
        "% _A\\b",
        "[x].*",
        "masse",
    ),
    *("% _A\\b", "[x].*", "👍", ".csv", "7.c", "."),
)


@pytest.mark.parametrize("words", WORDS)
def test_the_database_and_python_find_the_same(session: Session, words: str) -> None:
    for text in TEXTS:
        stored = literal(text)
        condition = holds_words(stored, words)  # type: ignore[arg-type]  # as a column
        assert bool(session.scalar(select(condition))) is contains_text(text, words), text


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("Anruf gelöscht", "GELOSCHT", True),
        ("Anruf gelöscht", "geloescht", True),
        ("Numéro supprimé", "número", True),
        ("Jolene", "Joel", False),
    ],
)
def test_words_are_found_in_text_without_accents(text: str, words: str, expected: bool) -> None:
    assert contains_text(text, words) is expected
