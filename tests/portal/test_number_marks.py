"""Numbers on pages carry the marks of the reader's language."""

from collections.abc import Callable
from decimal import Decimal

import pytest
from flask import Flask
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import User
from app.portal.web import formats
from app.portal.web.number_format import written
from tests.fixtures.cast import Tenant
from tests.portal.conftest import Browser

WRITTEN = {
    None: "−1,234,567.5",
    "en-GB,de;q=0.8": "−1,234,567.5",
    "de-DE,de;q=0.9,en;q=0.8": "−1.234.567,5",
    "de-CH": "−1’234’567.5",
    "de-AT": "−1\u00a0234\u00a0567,5",
    "en;q=0.3,fr;q=0.9": "−1\u00a0234\u00a0567,5",
    "pt-BR": "−1.234.567,5",
    "es-MX": "−1,234,567.5",
    "ja": "−1,234,567.5",
    "*": "−1,234,567.5",
    "no such language": "−1,234,567.5",
}


@pytest.mark.parametrize("asked", WRITTEN, ids=str)
def test_a_number_is_written_as_the_readers_language_writes_it(
    app: Flask, asked: str | None
) -> None:
    headers = {"Accept-Language": asked} if asked else {}
    with app.test_request_context(headers=headers):
        assert written(Decimal("-1234567.5"), 1) == WRITTEN[asked]


def test_digits_amounts_shares_and_sizes_follow(app: Flask) -> None:
    with app.test_request_context(headers={"Accept-Language": "de"}):
        shown = (
            formats.number(None),
            formats.number(1234),
            formats.number(Decimal("0.008500"), None),
            formats.plural(1234, "row"),
            formats.percent(1, 3),
            formats.size(1_250_000),
            formats.size(12),
        )
    assert shown == (
        *("–", "1.234", "0,0085", "1.234 rows"),
        *("33,3\u00a0%", "1,2\u00a0MB", "12\u00a0B"),
    )


def test_a_page_gives_its_scripts_the_number_marks_of_its_locale(
    session: Session, own: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    own.organization.assistant_limit = 1500
    session.commit()
    browser = signed_in(own.staff[Role.PARTNER_ADMIN])
    path = f"/organizations/{own.organization.id}"
    page = browser.get(path, headers={"Accept-Language": "de"}).text
    assert 'data-thousands="." data-decimal=","' in page
    assert "of 1.500" in page
    assert "of 1,500" in browser.get(path).text
