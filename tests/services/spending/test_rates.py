"""Call rates: the longest prefix decides, a file is imported whole or not at all."""

import pytest
from sqlalchemy.orm import Session

from app.errors import Conflict, Forbidden, ValidationFailed
from app.models import CallRate
from app.services import spending
from app.services.spending import LimitSubject, SpendingLimits, rates
from tests.fixtures.tenants import OPERATOR, make_tenant
from tests.fixtures.worker import make_calling_organization

FILE = """\
prefix,price_per_minute,setup_price,minimum_seconds,increment_seconds,currency
default,0.75,0.00,60,60,EUR
1,0.0135,0.00,30,6,EUR
44,0.02,0.01,1,1,EUR
447,0.0435,0.01,1,1,EUR
"""


def test_the_default_rates_price_every_number(session: Session) -> None:
    priced = {
        number: rates.rate_of(session, number).micros_per_minute
        for number in ("+12025550101", "+12425550101", "+442079460000", "+447700900000", "+99362")
    }
    assert priced == {
        "+12025550101": 30_000,
        "+12425550101": 500_000,
        "+442079460000": 60_000,
        "+447700900000": 200_000,
        "+99362": 1_000_000,
    }
    assert rates.currency_of(session) == "USD"


def test_a_file_is_imported_and_exported_as_it_was(session: Session) -> None:
    assert rates.replace(session, OPERATOR, FILE.encode()) == 4
    assert rates.to_csv(rates.listing(session)) == FILE
    assert rates.currency_of(session) == "EUR"
    mobile = rates.rate_of(session, "+447700900000")
    assert (mobile.prefix, mobile.price(0), mobile.price(90)) == ("447", 10_725, 75_250)
    states = rates.rate_of(session, "+12025550101")
    assert [states.charged_seconds(length) for length in (0, 30, 31, 36, 37)] == [
        *(30, 30, 36, 36, 42)
    ]
    assert rates.rate_of(session, "+33123456789").prefix == "default"


def test_the_default_rates_can_be_exported_and_imported(session: Session) -> None:
    exported = rates.to_csv(rates.listing(session))
    rates.replace(session, OPERATOR, exported.encode())
    assert rates.to_csv(rates.listing(session)) == exported


def test_every_wrong_row_is_named_and_nothing_is_saved(session: Session) -> None:
    wrong = FILE + "+49,0,05,60,60\n0049,free,0,-1,0,eur\n44,0.03,0,60,60,EUR\n45,1,0,60,60,USD\n"
    with pytest.raises(ValidationFailed) as refused:
        rates.replace(session, OPERATOR, wrong.encode())
    assert [problem.message for problem in refused.value.problems] == [
        "Row 6: It has 5 columns instead of 6.",
        "Row 7: prefix must be digits with the country code, like 4930, or default.",
        "Row 7: price_per_minute must be an amount like 0.05, with at most 6 decimals.",
        "Row 7: minimum_seconds must be seconds like 60.",
        "Row 7: increment_seconds must be at least 1.",
        "Row 7: currency must be a code like USD.",
        "Row 8: The prefix 44 is listed twice.",
        "Row 9: All rates must have the same currency.",
    ]
    assert session.query(CallRate).count() == 0


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "wrong_columns"),
        (b"\xff\xfe1", "not_csv"),
        (b"prefix,price\n1,2\n", "wrong_columns"),
        (FILE.replace("default", "49").encode(), "default_missing"),
    ],
)
def test_a_file_that_is_no_rates_file_is_refused(
    session: Session, content: bytes, code: str
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        rates.replace(session, OPERATOR, content)
    assert refused.value.code == code


def test_another_currency_is_refused_once_amounts_are_stored(session: Session) -> None:
    calling_organization = make_calling_organization(session)
    spending.change(
        session,
        OPERATOR,
        LimitSubject(partner_id=calling_organization.partner_id),
        SpendingLimits(day_micros=1_000_000),
    )
    with pytest.raises(Conflict) as refused:
        rates.replace(session, OPERATOR, FILE.encode())
    assert refused.value.code == "currency_in_use"


def test_only_the_operator_changes_rates(session: Session) -> None:
    tenant = make_tenant(session)
    with pytest.raises(Forbidden):
        rates.replace(session, make_calling_organization(session).key, FILE.encode())
    with pytest.raises(Forbidden):
        rates.reset(session, tenant.caller(next(iter(tenant.staff))))
