"""Messages that are stored in English are shown in the reader's language."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import app.factory  # noqa: F401 - imports every module with messages
from app import languages
from app.config import ROOT
from app.contact_files.errors import UnreadableFile
from app.errors import Sentence, translate_stored
from app.phone import PhoneError, normalise
from tests.fixtures.german import catalogue

GERMAN: dict[Any, Any] = {
    "Too short for %(country_words)s: %(digits_words)s, %(needed_words)s are needed.": (
        "Zu kurz (%(country_words)s): %(digits_words)s, nötig: %(needed_words)s."
    ),
    ("%(num)s digit after %(lead)s", "%(num)s digits after %(lead)s"): (
        "%(num)s Ziffer nach %(lead)s",
        "%(num)s Ziffern nach %(lead)s",
    ),
    "%(first)s or %(last)s": "%(first)s oder %(last)s",
    "%(problem_words)s %(phone)s is used instead.": ("%(problem_words)s Verwendet wird %(phone)s."),
    "This is %(what_words)s, not a contact file. Save the list as CSV or XLSX.": (
        "Das ist %(what_words)s, keine Kontaktdatei."
    ),
    "Unusual calls: %(reason_words)s.": "Ungewöhnliche Anrufe: %(reason_words)s.",
    "%(calls_number)s calls in an hour to %(country_words)s, which were not called before": (
        "%(calls_number)s Anrufe in einer Stunde nach %(country_words)s"
    ),
    ("%(num)s more country", "%(num)s more countries"): (
        "%(num)s weiteres Land",
        "%(num)s weitere Länder",
    ),
    "a picture": "ein Bild",
    "Stopped.": "Angehalten.",
}


@pytest.fixture(autouse=True)
def german_catalogue(tmp_path: Path) -> Iterator[None]:
    with catalogue(tmp_path, GERMAN):
        yield


def test_a_message_keeps_its_values_and_the_messages_within_it() -> None:
    with pytest.raises(PhoneError) as refused:
        normalise("+44 20 79", None)
    stored = refused.value.message
    assert stored == "Too short for the United Kingdom: 4 digits after +44, 7, 9 or 10 are needed."
    with languages.using_language("de"):
        assert translate_stored(stored) == (
            "Zu kurz (Vereinigtes Königreich): 4 Ziffern nach +44, nötig: 7, 9 oder 10."
        )
        assert translate_stored(f"{stored} +442079460000 is used instead.") == (
            "Zu kurz (Vereinigtes Königreich): 4 Ziffern nach +44, nötig: 7, 9 oder 10. "
            "Verwendet wird +442079460000."
        )


def test_the_refusal_of_a_file_names_its_kind() -> None:
    stored = UnreadableFile("unsupported_type", what="a picture").message
    with languages.using_language("de"):
        assert translate_stored(stored) == "Das ist ein Bild, keine Kontaktdatei."


@pytest.mark.parametrize(
    ("countries", "expected"),
    [
        ("Cuba and Somalia", "Kuba und Somalia"),
        (
            "Bosnia and Herzegovina, Spain, and the United Kingdom",
            "Bosnien und Herzegowina, Spanien und Vereinigtes Königreich",
        ),
        ("Cuba, Spain, and 3 more countries", "Kuba, Spanien und 3 weitere Länder"),
    ],
)
def test_a_list_of_countries_and_a_number_are_in_the_language(
    countries: str, expected: str
) -> None:
    stored = f"Unusual calls: 1,500 calls in an hour to {countries}, which were not called before."
    with languages.using_language("de"):
        assert translate_stored(stored) == (
            f"Ungewöhnliche Anrufe: 1.500 Anrufe in einer Stunde nach {expected}."
        )


def test_a_message_without_values_is_looked_up_as_it_is() -> None:
    with languages.using_language("de"):
        assert translate_stored("Stopped.") == "Angehalten."


@pytest.mark.parametrize("text", ["", "Written by a partner: 9 or 10 of 100%.", "from 1 to 2"])
def test_other_texts_are_shown_as_they_are(text: str) -> None:
    with languages.using_language("de"):
        assert translate_stored(text) == text


def test_in_english_nothing_is_changed() -> None:
    assert translate_stored("Too short for Peru: 1 digit, 8 are needed.") == (
        "Too short for Peru: 1 digit, 8 are needed."
    )


def test_every_message_is_found_by_its_values() -> None:
    values = {"num": 3, "first": 7, "last": 9, "code": 49, "lead": "+49 0"}
    lost = []
    for sentence in Sentence.surest_first():
        given = {
            name: values.get(name, "3" if name.endswith("_number") else "Some.thing@x")
            for name in sentence.placeholders
        }
        stored = sentence(**given)
        with languages.using_language("fr"):
            if stored and sentence.of_english(stored) != stored:
                lost.append(stored)
    assert lost == []


def test_the_web_application_knows_the_messages_that_only_workers_store() -> None:
    """In a process of its own, because other tests import the worker; messages without values are
    translated anyway."""
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, app.factory; print(*sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    with_messages = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in (ROOT / "app").rglob("*.py")
        if re.search(r'Sentence\.n?gettext\((\s*"[^"]*")*\s*"[^"]*%\(', path.read_text())
    ]
    assert set(with_messages) - set(loaded) == set()
