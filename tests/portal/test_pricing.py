"""Pricing: what plans cost, what the processor said of it, and who may change the ids."""

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from decimal import Decimal

import pytest
from flask import Flask
from sqlalchemy.orm import Session

from app.enums import Role, Tier
from app.gateways.processors.base import Price, PriceReference
from app.models import Pricing, ProcessorPrice, User, utcnow
from app.portal.pricing.views import money
from app.services import partners, pricing
from app.services.auth import sessions
from app.services.pricing import refresh as pricing_refresh
from tests.fixtures.browser_session import give_session
from tests.fixtures.cast import OPERATOR, Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]

PAGE, EDIT = "/pricing", "/pricing/edit"
FORM = {
    "free-price_id": "",
    "free-product_id": "",
    "basic-price_id": "price_b",
    "basic-product_id": "prod_b",
    "plus-price_id": "price_p",
    "plus-product_id": "prod_p",
}


@pytest.fixture
def admin(own: Tenant, signed_in: SignedIn) -> Browser:
    return signed_in(own.staff[Role.PARTNER_ADMIN])


@pytest.fixture
def with_stripe(make_app: Callable[..., Flask], session: Session, own: Tenant) -> Browser:
    """The admin's browser where prices come from Stripe."""
    app = make_app(processor="stripe", stripe_key="sk_test_x")
    admin = own.staff[Role.PARTNER_ADMIN]
    token = sessions.create(session, admin, lifetime=timedelta(hours=1), host="localhost")
    session.commit()
    client = app.test_client()
    give_session(client, token)
    return Browser(client)


def stored(session: Session, tenant: Tenant) -> list[tuple[str, str, str]] | None:
    session.expire_all()
    partner = partners.get(session, OPERATOR, tenant.partner.id)
    resource = partners.to_resource(partner, OPERATOR)
    if resource.pricing is None:
        return None
    return [(e.tier.value, e.processor_price_id, e.processor_product_id) for e in resource.pricing]


def told(session: Session, found: Mapping[str, Price], *asked: str) -> None:
    """What the processor answered, a moment ago."""
    questions = [PriceReference(Tier.PLUS, price_id, "") for price_id in (*found, *asked)]
    pricing_refresh.keep(session, questions, found)
    session.commit()


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def version(html: str) -> str:
    found = re.search(r'name="version" value="(\d+)"', html)
    assert found
    return found.group(1)


@pytest.mark.parametrize(
    ("cost", "currency", "shown"),
    [
        (29.0, "USD", "$29.00"),
        (Decimal("948.5000"), "EUR", "€948.50"),
        (12345.6, "GBP", "£12,345.60"),
        (3000, "JPY", "¥3,000"),
        (29, "CHF", "29.00\u00a0CHF"),
        (Decimal("1.25"), "KWD", "1.250\u00a0KWD"),
    ],
)
def test_amounts_are_written_in_their_currency(cost: float, currency: str, shown: str) -> None:
    assert money(cost, currency) == shown


def test_an_admin_sets_each_plan_once(admin: Browser, own: Tenant, session: Session) -> None:
    answer = admin.post(EDIT, FORM, page=EDIT)
    assert (answer.status_code, answer.location) == (303, "/pricing?saved=1")
    assert stored(session, own) == [
        ("customerBasicPlan", "price_b", "prod_b"),
        ("customerPlusPlan", "price_p", "prod_p"),
    ]
    page = words(admin.get(answer.location).text)
    assert "Basic $29.00 price_b prod_b Built-in price list" in page
    assert "Without a price: Free." in page
    assert "Plus Plus $99.00" in page


def test_the_page_offers_what_the_json_offers(
    admin: Browser, own: Tenant, session: Session
) -> None:
    admin.post(EDIT, FORM, page=EDIT)
    session.expire_all()
    options = pricing.options(session, own.caller(Role.PARTNER_ADMIN), own.partner.id)
    table = admin.get(PAGE).text.partition("What customers can choose")[2]
    shown = re.findall(r'<span class="name">([^<]+)</span></td>.*?end phone-first">([^<]+)<', table)
    assert shown == [("Basic", "$29.00"), ("Plus", "$99.00")]
    assert [(option.name, f"${option.cost:.2f}") for option in options] == shown


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("plus-price_id", "", "Enter the price id of this product"),
        ("plus-product_id", "", "Enter the product id of this price"),
        ("basic-price_id", "x" * 201, "at most 200"),
    ],
)
def test_a_plan_with_half_its_ids_is_refused_at_the_field(
    admin: Browser, own: Tenant, session: Session, field: str, value: str, words: str
) -> None:
    answer = admin.post(EDIT, {**FORM, field: value}, page=EDIT)
    assert answer.status_code == 422
    assert words in answer.text.partition(f'id="{field}-error"')[2].partition("</p>")[0]
    assert f'href="#{field}"' in answer.text
    assert stored(session, own) is None


def test_a_problem_stands_at_its_plan_whatever_the_order_of_the_prices(admin: Browser) -> None:
    whole = {**FORM, "free-price_id": "price_f", "free-product_id": "prod_f"}
    for typed in (FORM, whole):
        assert admin.post(EDIT, typed, page=EDIT).status_code == 303
    answer = admin.post(EDIT, {**whole, "basic-price_id": "x" * 201}, page=EDIT)
    assert '<a href="#basic-price_id">Basic, price id: ' in answer.text
    assert "free-price_id-error" not in answer.text


def test_who_saves_second_sees_both_versions(admin: Browser, own: Tenant, session: Session) -> None:
    seen = version(admin.get(EDIT).text)
    admin.post(EDIT, {**FORM, "version": seen}, page=EDIT)
    answer = admin.post(EDIT, {**FORM, "version": seen, "plus-price_id": "price_x"}, page=EDIT)
    assert answer.status_code == 409
    assert '<th scope="row">Plus, price id</th><td>price_p</td><td>price_x</td>' in answer.text
    stored_now = stored(session, own) or []
    assert stored_now[1][1] == "price_p"


def test_a_plan_that_a_script_set_twice_is_shown_and_fixed_by_saving(
    admin: Browser, own: Tenant, session: Session
) -> None:
    for position, price_id in enumerate(("price_1", "price_2")):
        session.add(
            Pricing(
                partner_id=own.partner.id,
                position=position,
                tier=Tier.PLUS,
                processor_price_id=price_id,
                processor_product_id="prod_p",
            )
        )
    session.commit()
    session.expire_all()
    assert "Plus appears twice in your prices" in admin.get(PAGE).text
    admin.post(EDIT, {**FORM, "basic-price_id": "", "basic-product_id": "",
                      "plus-price_id": "price_1"}, page=EDIT)  # fmt: skip
    assert stored(session, own) == [("customerPlusPlan", "price_1", "prod_p")]


def test_what_the_processor_does_not_know_is_named(
    with_stripe: Browser, own: Tenant, session: Session
) -> None:
    free = {"free-price_id": "price_f", "free-product_id": "prod_f"}
    with_stripe.post(EDIT, {**FORM, **free}, page=EDIT)
    told(session, {"price_p": Price("Plus", Decimal(99), "EUR", "prod_else")}, "price_b")
    page = words(with_stripe.get(PAGE).text)
    assert "Free – price_f prod_f Not checked yet" in page
    assert "Basic – price_b prod_b Unknown at the processor" in page
    assert "Plus €99.00 price_p prod_p Belongs to prod_else" in page
    assert "Prices come from Stripe, updated every 10 minutes." in page


def test_the_last_known_price_is_served_with_its_age(
    with_stripe: Browser, own: Tenant, session: Session
) -> None:
    with_stripe.post(EDIT, FORM, page=EDIT)
    told(session, {"price_p": Price("Plus", Decimal(99), "EUR", "prod_p")})
    assert "has not answered since" not in with_stripe.get(PAGE).text
    row = session.get_one(ProcessorPrice, "price_p")
    row.fetched_at = utcnow() - timedelta(hours=3)
    session.commit()
    page = words(with_stripe.get(PAGE).text)
    assert "Stripe has not answered since" in page
    assert "Plus Plus €99.00" in page


@pytest.mark.parametrize("role", [Role.PARTNER_EDITOR, Role.ADMIN])
def test_others_of_the_staff_read_and_change_nothing(
    own: Tenant, signed_in: SignedIn, session: Session, role: Role, admin: Browser
) -> None:
    admin.post(EDIT, FORM, page=EDIT)
    browser = signed_in(own.staff[role])
    page = browser.get(PAGE).text
    assert "price_b" in page
    assert EDIT not in page
    assert browser.get(EDIT).status_code == 404
    assert browser.post(EDIT, {**FORM, "plus-price_id": "x"}, page="/").status_code == 404
    assert (stored(session, own) or [])[1][1] == "price_p"


def test_a_member_finds_no_prices(own: Tenant, signed_in: SignedIn) -> None:
    assert signed_in(own.user).get(PAGE).status_code == 404


def test_without_prices_the_page_says_what_they_are_for(admin: Browser) -> None:
    page = admin.get(PAGE).text
    assert "No prices yet" in page
    assert "Add prices" in page
