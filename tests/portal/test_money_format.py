"""Amounts and months are written as the reader's language and region do."""

from datetime import date

import pytest

from app import languages
from app.languages.dates import standalone_month
from app.portal.billing.formats import month_name
from app.services.money_format import exact_micros, micros, money

GAP = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("tag", "dollars", "francs"),
    [
        ("en", "$1,029.50", f"1,029.50{GAP}CHF"),
        ("de", f"1.029,50{GAP}$", f"1.029,50{GAP}CHF"),
        ("de-AT", f"${GAP}1.029,50", f"1.029,50{GAP}CHF"),
        ("es-MX", "$1,029.50", f"1,029.50{GAP}CHF"),
    ],
)
def test_the_currency_sign_is_where_the_region_writes_it(
    tag: str, dollars: str, francs: str
) -> None:
    with languages.using_language(tag):
        assert (money(1029.5, "usd"), money(1029.5, "CHF")) == (dollars, francs)


def test_a_negative_amount_begins_with_a_minus() -> None:
    with languages.using_language("de"):
        assert micros(-12_500_000, "EUR") == f"−12,50{GAP}€"


def test_a_price_keeps_all_its_decimals_and_an_amount_those_of_its_currency() -> None:
    with languages.using_language("en"):
        assert [exact_micros(of, "USD") for of in (13_500, 300_000, 2_000_000)] == [
            "$0.0135",
            "$0.30",
            "$2.00",
        ]
        assert (micros(13_500, "USD"), exact_micros(3_000_000, "JPY")) == ("$0.01", "¥3")


@pytest.mark.parametrize(
    ("tag", "words"),
    [
        ("en", ("October 2026", "October")),
        ("de", ("Oktober 2026", "Oktober")),
        ("es", ("octubre de 2026", "octubre")),
        ("fr", ("octobre 2026", "octobre")),
    ],
)
def test_a_month_is_written_with_and_without_its_year(tag: str, words: tuple[str, str]) -> None:
    with languages.using_language(tag):
        month = date(2026, 10, 1)
        assert (month_name(month), standalone_month(month)) == words
