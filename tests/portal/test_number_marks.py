"""Numbers on pages carry the marks of the reader's language."""

from collections.abc import Callable
from decimal import Decimal

import pytest
from sqlalchemy.orm import Session

from app.enums import Role
from app.gateways.files import size_label
from app.languages import ngettext, using_language
from app.languages.numbers import localize_number, parse_number, without_separators
from app.models import User
from app.portal.web import formats
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

WRITTEN = {
    "en": "−1,234,567.5",
    "en-GB": "−1,234,567.5",
    "de": "−1.234.567,5",
    "de-CH": "−1’234’567.5",
    "fr": "−1\u202f234\u202f567,5",
    "es": "−1.234.567,5",
    "es-MX": "−1,234,567.5",
}


@pytest.mark.parametrize("tag", WRITTEN)
def test_a_number_is_written_as_the_language_writes_it(tag: str) -> None:
    with using_language(tag):
        assert localize_number(Decimal("-1234567.5"), 1) == WRITTEN[tag]


READ = {
    "en": {"12.50": "12.50", "1,500.00": "1500.00", "1,500": "1500", "1.500": "1.500"},
    "de": {"12,50": "12.50", "1.500,00": "1500.00", "1.500": "1500", "12.50": "12.50"},
    "de-AT": {"12,50": "12.50", "1.500,00": "1500.00", "1.500": "1500", "1500.5": "1500.5"},
    "de-CH": {"12.50": "12.50", "1'500.00": "1500.00", "1’500": "1500", "12,50": "12.50"},
    "fr": {"12,50": "12.50", "1 500,00": "1500.00", "1\u202f500": "1500", "1500.5": "1500.5"},
    "es": {"12,50": "12.50", "1.500,00": "1500.00", "1500,00": "1500.00", "0.045": "0.045"},
}


@pytest.mark.parametrize("tag", READ)
def test_a_number_is_read_in_the_format_of_the_language_or_in_english_format(tag: str) -> None:
    with using_language(tag):
        assert {typed: str(parse_number(typed)) for typed in READ[tag]} == READ[tag]


@pytest.mark.parametrize(
    ("tag", "typed"),
    [
        *(("en", typed) for typed in ("12,50", "1.500,00", "1 500", "", "-1", "1e5", "NaN", "٣")),
        *(("de", typed) for typed in ("1,5,0", "1.50,5", "12.50 €", "1 500,00")),
        ("fr", "1.500,00"),
    ],
)
def test_a_number_in_no_format_of_the_language_is_refused(tag: str, typed: str) -> None:
    with using_language(tag):
        assert parse_number(typed) is None


def test_a_field_shows_a_number_with_the_decimal_mark_of_the_language() -> None:
    with using_language("de"):
        assert without_separators("1500.50") == "1500,50"


def test_a_number_in_a_sentence_is_written_as_in_the_language() -> None:
    with using_language("de"):
        assert ngettext("%(num)s event", "%(num)s events", 1234) == "1.234 Ereignisse"


def test_counts_amounts_shares_and_sizes_follow_the_language() -> None:
    with using_language("de"):
        shown = (
            formats.number(None),
            formats.number(1234),
            formats.number(Decimal("0.008500"), None),
            formats.percent(1, 3),
            formats.size(1_250_000),
            formats.size(12),
        )
    assert shown == (
        *("–", "1.234", "0,0085"),
        *("33,3\u00a0%", "1,2\u00a0MB", "12\u00a0B"),
    )


def test_sizes_have_the_units_of_the_language() -> None:
    shown = []
    for language in ("en", "fr"):
        with using_language(language):
            shown += [formats.size(12), formats.size(2_000_000), size_label(64 * 1024 * 1024)]
    units = ["12 B", "2.0 MB", "64 MB", "12 o", "2,0 Mo", "64 Mo"]
    assert [text.replace("\u00a0", " ") for text in shown] == units


def test_a_page_gives_its_scripts_the_number_marks_of_its_locale(
    session: Session, tenant: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    tenant.organization.assistant_limit = 1500
    session.commit()
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    path = f"/organizations/{tenant.organization.id}"
    page = browser.get(path, headers={"Accept-Language": "de"}).text
    assert 'data-thousands="." data-decimal=","' in page
    assert "von 1.500" in page
    assert "of 1,500" in browser.get(path).text
