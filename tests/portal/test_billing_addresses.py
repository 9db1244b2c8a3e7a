"""Addresses and payment terms on statements: who sets them, and where they are shown."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from html import unescape
from typing import Any

import pytest
from sqlalchemy import update
from sqlalchemy.orm import Session

from app.enums import Role, SubscriptionStatus, Tier
from app.models import Statement, Subscription, User
from app.services.billing import closing
from app.services.pricing.plans import PlanTerms
from tests.fixtures.clock import SetClock, set_clock
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser
from tests.portal.page_text import error_at, text_of
from tests.portal.test_costs import lines
from tests.portal.test_portal_settings import FORM
from tests.services.billing.conftest import publish

SignIn = Callable[[User], Browser]
SELLER = {"billing_address": "1 Harbour Road\r\n\r\n  Bristol BS1 5DB ", "tax_id": " GB123 "}
BUYER = {"billing_address": "Hauptstraße 5\r\n10115 Berlin", "tax_id": "DE999"}
FOUND = "1 Harbour Road Bristol BS1 5DB Tax or registration number: GB123"


@pytest.fixture(autouse=True)
def clock() -> Iterator[SetClock]:
    with set_clock() as found:
        found.set("2026-11-20T12:00:00")
        yield found


@pytest.fixture
def tenant(session: Session, tenant: Tenant) -> Tenant:
    """Has plans since October."""
    tenant.partner.support_email = "help@northwind.example"
    tenant.plus.created_at = tenant.plus.tier_since = datetime(2025, 11, 1, tzinfo=UTC)
    publish(session, tenant, datetime(2026, 10, 1, tzinfo=UTC), PLUS=PlanTerms(9_900, "USD"))
    session.commit()
    return tenant


@pytest.fixture
def admin(signed_in: SignIn, tenant: Tenant) -> Browser:
    return signed_in(tenant.staff[Role.PARTNER_ADMIN])


def close_october(session: Session) -> None:
    while closing.close_due(session, datetime(2026, 11, 1, 3, tzinfo=UTC)):
        session.commit()


def set_seller(admin: Browser, **fields: str) -> None:
    sent = {**FORM, "partner_name": "Northwind", **SELLER, **fields}
    assert admin.post("/settings", sent, page="/settings").status_code == 303


def set_buyer(admin: Browser, tenant: Tenant, **fields: str) -> None:
    path = f"/organizations/{tenant.plus.id}/edit"
    sent = {"name": tenant.plus.name, **BUYER, **fields}
    assert admin.post(path, sent, page=path).status_code == 303


def parties_of(browser: Browser, tenant: Tenant, month: str = "2026-10") -> str:
    page = text_of(browser.get(f"/statements/{tenant.plus.id}?month={month}").text)
    return page.partition(" From ")[2].partition(" Period ")[0]


def test_page_file_and_pdf_of_a_statement_show_both_addresses(
    session: Session, admin: Browser, tenant: Tenant, printed_pdfs: list[dict[str, Any]]
) -> None:
    set_seller(admin)
    set_buyer(admin, tenant)
    assert parties_of(admin, tenant).replace("\u200b", "") == (
        f"Northwind {FOUND} help@ northwind. example "
        f"To {tenant.plus.name} Hauptstraße 5 10115 Berlin Tax or registration number: DE999"
    )
    file = lines(admin.get(f"/statements/{tenant.plus.id}.csv?month=2026-10").text)
    cells = (
        f'"1 Harbour Road, Bristol BS1 5DB",GB123,{tenant.plus.name},"Hauptstraße 5, 10115 Berlin"'
    )
    assert [line.partition("Northwind,")[2] for line in file[1:]] == [f"{cells},DE999"] * 2
    admin.get(f"/statements/{tenant.plus.id}.pdf?month=2026-10")
    number = "Tax or registration number: "
    seller = ["1 Harbour Road", "Bristol BS1 5DB", (number, "GB123", ""), "help@northwind.example"]
    assert printed_pdfs[0]["parties"] == [
        ("From", "Northwind", seller),
        ("To", tenant.plus.name, ["Hauptstraße 5", "10115 Berlin", (number, "DE999", "")]),
    ]


def test_a_closed_statement_keeps_names_and_addresses(
    session: Session, admin: Browser, tenant: Tenant
) -> None:
    set_seller(admin)
    set_buyer(admin, tenant)
    address = f"/statements/{tenant.plus.id}.csv?month=2026-10"
    close_october(session)
    page, file = parties_of(admin, tenant), admin.get(address).text
    set_seller(admin, partner_name="Southwind", billing_address="2 New Street", tax_id="")
    set_buyer(admin, tenant, name="Renamed", billing_address="", tax_id="")
    assert (parties_of(admin, tenant), admin.get(address).text) == (page, file)
    assert parties_of(admin, tenant, "2026-11").startswith("Southwind 2 New Street help@")


def test_a_month_closed_before_addresses_were_stored_has_names_alone(
    session: Session, admin: Browser, tenant: Tenant
) -> None:
    close_october(session)
    for statement in session.query(Statement):
        statement.parties = None
    session.commit()
    set_seller(admin)
    set_buyer(admin, tenant)
    missing = "Closed without an address. Set address"
    shown = parties_of(admin, tenant)
    assert shown.startswith("Northwind help@")
    assert shown.endswith(f"{missing} To {tenant.plus.name} {missing}")


def test_only_users_who_may_set_an_address_read_that_it_is_missing(
    signed_in: SignIn, admin: Browser, tenant: Tenant
) -> None:
    page = admin.get(f"/statements/{tenant.plus.id}").text
    assert 'href="/settings#billing_address"' in page
    assert f'href="/organizations/{tenant.plus.id}/edit#billing_address"' in page
    customer_admin = parties_of(signed_in(tenant.staff[Role.ADMIN]), tenant)
    assert customer_admin.count("No address yet. Set address") == 1
    assert "address" not in parties_of(signed_in(tenant.plus_user), tenant)


def test_the_history_names_what_was_changed(admin: Browser, tenant: Tenant) -> None:
    set_seller(admin)
    set_buyer(admin, tenant)
    page = text_of(admin.get("/audit").text)
    for shown in (
        "Address on statements",
        "1 Harbour Road, Bristol BS1 5DB",
        "Hauptstraße 5, 10115 Berlin",
        "Tax or registration number",
        "DE999",
    ):
        assert shown in page


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("billing_address", "\n".join("abcdefg"), "Use at most 6 lines."),
        ("billing_address", "x" * 101, "A line is too long. Use at most 100 characters."),
        ("tax_id", "x" * 41, "Too long. Use at most 40 characters."),
    ],
)
def test_an_invalid_address_is_refused_at_its_field(
    admin: Browser, tenant: Tenant, session: Session, field: str, value: str, words: str
) -> None:
    edit = f"/organizations/{tenant.plus.id}/edit"
    for path, form in (("/settings", FORM), (edit, {"name": tenant.plus.name})):
        answer = admin.post(path, {**form, field: value}, page=path)
        error = error_at(field, answer.text)
        assert answer.status_code == 422
        assert words in unescape(error)
    session.expire_all()
    assert (tenant.partner.billing_address, tenant.plus.billing_address) == (None, None)


def test_members_and_other_partners_cannot_set_an_address(
    signed_in: SignIn, tenant: Tenant, other_tenant: Tenant, session: Session
) -> None:
    edit = f"/organizations/{tenant.plus.id}/edit"
    member, stranger = (
        signed_in(tenant.plus_user),
        signed_in(other_tenant.staff[Role.PARTNER_ADMIN]),
    )
    sent = {"name": "Taken", **BUYER}
    assert [
        browser.post(path, sent, page="/account").status_code
        for browser, path in ((member, edit), (member, "/settings"), (stranger, edit))
    ] == [404, 404, 404]
    session.expire_all()
    assert tenant.plus.billing_address is None


TERMS = {
    "payment_instructions": " IBAN DE00 1234\r\nReference: <b>number</b> ",
    "payment_days": "14",
}


def payment_of(browser: Browser, tenant: Tenant, month: str = "2026-10") -> str:
    page = text_of(browser.get(f"/statements/{tenant.plus.id}?month={month}").text)
    return page.partition("How to pay ")[2].partition(" Days and months")[0]


def test_page_and_pdf_of_a_statement_say_how_to_pay_and_when_it_is_due(
    session: Session,
    signed_in: SignIn,
    admin: Browser,
    tenant: Tenant,
    printed_pdfs: list[dict[str, Any]],
) -> None:
    set_seller(admin, **TERMS)
    session.expire_all()
    close_october(session)
    session.execute(update(Statement).values(closed_at=datetime(2026, 11, 1, 3, tzinfo=UTC)))
    session.commit()
    for browser in (admin, signed_in(tenant.plus_user)):
        assert payment_of(browser, tenant) == "IBAN DE00 1234 Reference: <b>number</b>"
        page = text_of(browser.get(f"/statements/{tenant.plus.id}?month=2026-10").text)
        assert "Due 15 Nov 2026" in page.replace("\N{NO-BREAK SPACE}", " ")
    preview = text_of(admin.get(f"/statements/{tenant.plus.id}?month=2026-11").text)
    assert "Due 14 days after it is issued" in preview
    admin.get(f"/statements/{tenant.plus.id}.pdf?month=2026-10")
    assert printed_pdfs[0]["payment"] == (
        "How to pay",
        ["IBAN DE00 1234", "Reference: <b>number</b>"],
    )
    assert "Due" in dict(printed_pdfs[0]["facts"])


def test_a_statement_says_how_to_pay_in_the_language_of_its_reader(
    session: Session, admin: Browser, tenant: Tenant, printed_pdfs: list[dict[str, Any]]
) -> None:
    set_seller(admin, **TERMS, payment_text_fr=" Virement\r\nRéférence ")
    page = admin.get("/settings").text
    assert "Virement\nRéférence</textarea>" in unescape(page).replace("\r", "")
    assert "Payment instructions in French" in page
    session.expire_all()
    close_october(session)
    set_seller(admin, **TERMS, payment_text_fr="")
    url = f"/statements/{tenant.plus.id}"
    for month, french in (("2026-10", True), ("2026-11", False)):
        for code in ("fr", "de"):
            headers = {"Accept-Language": code}
            shown = text_of(admin.get(f"{url}?month={month}", headers=headers).text)
            is_french = french and code == "fr"
            assert ("Virement Référence" in shown, "IBAN" in shown) == (is_french, not is_french)
    admin.get(f"{url}.pdf?month=2026-10", headers={"Accept-Language": "fr"})
    assert printed_pdfs[0]["payment"][1] == ["Virement", "Référence"]
    history = text_of(admin.get("/audit").text)
    assert "Texts in other languages" in history
    assert "Français: Virement Référence" in history


def test_a_closed_statement_keeps_its_payment_terms(
    session: Session, admin: Browser, tenant: Tenant
) -> None:
    close_october(session)
    assert (
        payment_of(admin, tenant) == "Closed without payment instructions. Set payment instructions"
    )
    set_seller(admin, **TERMS)
    assert (
        payment_of(admin, tenant) == "Closed without payment instructions. Set payment instructions"
    )
    assert payment_of(admin, tenant, "2026-11").startswith("IBAN")


def test_statements_paid_by_subscription_or_of_zero_show_no_instructions(
    session: Session, admin: Browser, tenant: Tenant
) -> None:
    set_seller(admin, **TERMS)
    free = text_of(admin.get(f"/statements/{tenant.organization.id}?month=2026-10").text)
    assert "How to pay" not in free
    subscription = Subscription(
        partner_id=tenant.partner.id,
        organization_id=tenant.plus.id,
        reference="sub_1",
        tier=Tier.PLUS,
        status=SubscriptionStatus.ACTIVE,
        created_at=datetime(2026, 10, 20, tzinfo=UTC),
        seen_at=datetime(2026, 10, 20, tzinfo=UTC),
    )
    session.add(subscription)
    session.commit()
    assert payment_of(admin, tenant) == ""
    close_october(session)
    page = text_of(admin.get(f"/statements/{tenant.plus.id}?month=2026-10").text)
    assert "The plan is paid through Stripe." in page
    assert "IBAN" not in page


def test_members_do_not_read_that_instructions_are_missing(
    signed_in: SignIn, tenant: Tenant
) -> None:
    page = text_of(signed_in(tenant.plus_user).get(f"/statements/{tenant.plus.id}").text)
    assert "Statement" in page
    assert "How to pay" not in page


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        pytest.param(
            *("payment_instructions", "x" * 1001, "Too long. Use at most 1000 characters."),
            id="too long",
        ),
        pytest.param(
            *("payment_text_de", "x" * 1001, "Too long. Use at most 1000 characters."),
            id="too long in a language",
        ),
        ("payment_days", "366", "Enter a number from 0 to 365."),
        ("payment_days", "soon", "Enter a number from 0 to 365."),
        ("payment_days", "²", "Enter a number from 0 to 365."),
    ],
)
def test_payment_terms_that_do_not_fit_are_refused_at_their_field(
    admin: Browser, tenant: Tenant, session: Session, field: str, value: str, words: str
) -> None:
    answer = admin.post("/settings", {**FORM, field: value}, page="/settings")
    error = error_at(field, answer.text)
    assert answer.status_code == 422
    assert words in unescape(error)
    session.expire_all()
    assert (tenant.partner.payment_instructions, tenant.partner.payment_days) == (None, None)
