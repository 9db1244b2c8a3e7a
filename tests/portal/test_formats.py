"""How pages write addresses."""

from datetime import UTC, date, datetime

import pytest

from app.languages import using_language
from app.languages.dates import format_date_range, format_local_date
from app.portal.web.formats import (
    breakable,
    medium_datetime,
    range_end,
    typographic,
    unbroken,
    utc_days,
)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("ada@mail.example.com", "ada@|mail.|example.|com"),
        ("https://hooks.example.com/in/2", "https://|hooks.example.com/|in/|2"),
        ("https://hooks.example.com/", "https://|hooks.example.com/"),
        ("https://hooks.example.com/in?a=1&b=2", "https://|hooks.example.com/|in|?a=1|&amp;b=2"),
        (
            "https://hooks.example.com/p/sign-in",
            'https://|hooks.example.com/|p/|<span class="nowrap">sign-in</span>',
        ),
        ("a<b@mail.example", "a&lt;b@|mail.|example"),
    ],
)
def test_a_long_address_breaks_between_its_parts_and_never_inside_the_host(
    address: str, shown: str
) -> None:
    assert breakable(address) == shown.replace("|", "<wbr>")


@pytest.mark.parametrize(
    ("language", "shown"),
    [
        ("en", "29 Nov 2026, 11:55 UTC"),
        ("de", "29. Nov. 2026, 11:55 UTC"),
        ("es", "29 nov 2026, 11:55 UTC"),
        ("fr", "29 nov. 2026, 11:55 UTC"),
    ],
)
def test_a_date_among_details_is_short_and_breaks_only_before_its_time(
    language: str, shown: str
) -> None:
    with using_language(language):
        words = medium_datetime(datetime(2026, 11, 29, 11, 55, tzinfo=UTC))
    assert words.replace("\N{NO-BREAK SPACE}", " ") == shown
    assert words.split(" ") == [words.partition(" ")[0], words.partition(" ")[2]]


@pytest.mark.parametrize(
    ("language", "single", "days"),
    [
        ("en", "1 Sep 2026", "1–27 Sep 2026"),
        ("de", "1. Sept. 2026", "1.–27. Sept. 2026"),
        ("es", "1 sept 2026", "1–27 sept 2026"),
        ("fr", "1er sept. 2026", "1er–27 sept. 2026"),
    ],
)
def test_september_is_written_alike_in_dates_and_ranges(
    language: str, single: str, days: str
) -> None:
    first, last = date(2026, 9, 1), date(2026, 9, 27)
    with using_language(language):
        shown = format_local_date(first, "yMMMd"), format_date_range(first, last)
    assert [words.replace("\N{NO-BREAK SPACE}", " ") for words in shown] == [single, days]


def test_only_the_first_day_of_a_french_month_is_an_ordinal() -> None:
    with using_language("fr"):
        shown = [format_local_date(date(2026, 8, day), "yMMMMd") for day in (1, 11, 21)]
        month = format_local_date(date(2026, 8, 1), "yMMMM")
    assert [words.replace("\N{NO-BREAK SPACE}", " ") for words in (*shown, month)] == [
        "1er août 2026",
        "11 août 2026",
        "21 août 2026",
        "août 2026",
    ]


def test_a_range_never_breaks_after_its_dash() -> None:
    assert "1–\N{WORD JOINER}27" in utc_days(date(2026, 11, 1), date(2026, 11, 27), "UTC")
    assert f"858–{range_end('903')}" == "858–\N{WORD JOINER}903"


def test_no_line_ends_within_the_word_e_mail() -> None:
    words = "Keine E-Mail-Adresse. Saisissez un e-mail, e-mails, not e-mail@x.example or e-mailing."
    shown = typographic(words).replace("-\N{WORD JOINER}", "_")
    assert shown == words.replace("E-Mail", "E_Mail").replace(
        "un e-mail, e-mails,", "un e_mail, e_mails,"
    )


def test_a_pseudonym_stays_on_one_line() -> None:
    assert unbroken("erased-<1>") == '<span class="nowrap">erased-&lt;1&gt;</span>'
