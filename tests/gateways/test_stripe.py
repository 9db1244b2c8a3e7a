"""Stripe's prices through the official SDK, asked of a server that answers as Stripe does."""

import hmac
import json
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from app.enums import Tier
from app.gateways.processors import open_processor
from app.gateways.processors.base import (
    ListedPrice,
    PriceReference,
    ProcessorRefused,
    ProcessorUnavailable,
)
from app.gateways.processors.stripe import PlanForSale, StripeEvent, StripeProcessor, read_event
from tests.fixtures.settings import settings_for
from tests.fixtures.stripe_server import KEY, StripeServer, stripe_server


@pytest.fixture(scope="module")
def server() -> Iterator[StripeServer]:
    with stripe_server() as running:
        yield running


def ask(server: StripeServer, *price_ids: str) -> dict[str, ListedPrice]:
    questions = [PriceReference(Tier.PLUS, price_id, "prod_x") for price_id in price_ids]
    return dict(StripeProcessor(KEY, server.url).prices(questions))


def test_a_price_has_its_products_name_and_its_cost_in_currency_units(
    server: StripeServer,
) -> None:
    price = server.price("Plus", 9900)
    assert ask(server, price.id) == {
        price.id: ListedPrice("Plus", Decimal("99.00"), "USD", price.product)
    }


def test_a_price_with_a_name_of_its_own_keeps_it(server: StripeServer) -> None:
    price = server.price("Plus", 94850, "eur", nickname="Plus, yearly")
    found = ask(server, price.id)[price.id]
    assert (found.name, found.cost, found.currency) == ("Plus, yearly", Decimal("948.50"), "EUR")


@pytest.mark.parametrize(
    ("currency", "amount", "cost"), [("jpy", 3000, "3000"), ("usd", 1, "0.01"), ("usd", 0, "0")]
)
def test_amounts_are_counted_in_the_currencys_smallest_unit(
    server: StripeServer, currency: str, amount: int, cost: str
) -> None:
    price = server.price("Basic", amount, currency)
    assert ask(server, price.id)[price.id].cost == Decimal(cost)


def test_unknown_ids_are_left_out(server: StripeServer) -> None:
    price = server.price("Basic", 2900)
    assert list(ask(server, "price_nobody", price.id, "../charges")) == [price.id]


def test_an_unreachable_server_is_reported() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        gateway = StripeProcessor(KEY, f"http://127.0.0.1:{port}")
        with pytest.raises(ProcessorUnavailable) as refused:
            gateway.prices([PriceReference(Tier.PLUS, "price_x", "prod_x")])
    assert str(refused.value) == "Stripe gave no answer: APIConnectionError"


def test_a_key_that_is_refused_is_no_answer(server: StripeServer) -> None:
    with pytest.raises(ProcessorUnavailable) as refused:
        StripeProcessor("no key at all", server.url).prices(
            [PriceReference(Tier.PLUS, "price_x", "p")]
        )
    assert str(refused.value) == "Stripe gave no answer: AuthenticationError"


def test_the_settings_choose_the_processor(tmp_path: Path) -> None:
    url = "sqlite:///x"
    stripe = settings_for(url, tmp_path, processor="stripe", stripe_key=KEY)
    assert open_processor(settings_for(url, tmp_path)).name == "built-in price list"
    assert (open_processor(stripe).name, open_processor(stripe).is_outside) == ("Stripe", True)


def test_stripe_without_a_key_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="PORTAL_STRIPE_KEY must be set"):
        settings_for("sqlite:///x", tmp_path, processor="stripe")


SALE = PlanForSale("Growth", Decimal("149.00"), "EUR", "month")


def gateway(server: StripeServer) -> StripeProcessor:
    return StripeProcessor(KEY, server.url)


def stored(server: StripeServer, price_id: str) -> tuple[str, int, str, str, bool]:
    price = server.client.v1.prices.retrieve(price_id)
    product = server.client.v1.products.retrieve(price.product)
    interval = price.recurring.interval
    return product.name, price.unit_amount, price.currency, interval, price.active


def test_a_plan_is_sold_as_a_product_with_a_price(server: StripeServer) -> None:
    product_id, price_id = gateway(server).sell(SALE, "first")
    assert stored(server, price_id) == ("Growth", 14900, "eur", "month", True)
    asked = PriceReference(Tier.PLUS, price_id, product_id)
    assert gateway(server).prices([asked])[price_id].interval == "month"


def test_a_repeated_change_creates_nothing_twice(server: StripeServer) -> None:
    assert gateway(server).sell(SALE, "twice") == gateway(server).sell(SALE, "twice")


def test_another_amount_is_another_price_and_the_old_one_is_archived(server: StripeServer) -> None:
    product_id, old = gateway(server).sell(SALE, "old")
    sale = replace(SALE, name="Scale", cost=Decimal(199), product_id=product_id, price_id=old)
    same_product, new = gateway(server).sell(sale, "new")
    assert same_product == product_id
    assert stored(server, old) == ("Scale", 14900, "eur", "month", False)
    assert stored(server, new) == ("Scale", 19900, "eur", "month", True)


def test_an_unchanged_price_stays_and_is_sold_again(server: StripeServer) -> None:
    product_id, price_id = gateway(server).sell(SALE, "stays")
    gateway(server).archive(price_id)
    assert stored(server, price_id)[-1] is False
    sale = replace(SALE, product_id=product_id, price_id=price_id)
    assert gateway(server).sell(sale, "again") == (product_id, price_id)
    assert stored(server, price_id)[-1] is True


def test_ids_that_the_account_does_not_have_are_replaced(server: StripeServer) -> None:
    sale = replace(SALE, product_id="prod_nobody", price_id="price_nobody")
    _product_id, price_id = gateway(server).sell(sale, "replaced")
    assert stored(server, price_id) == ("Growth", 14900, "eur", "month", True)


def test_a_refusal_says_what_to_change(server: StripeServer) -> None:
    with pytest.raises(ProcessorRefused, match="Check it"):
        StripeProcessor("no key at all", server.url).check()
    with pytest.raises(ProcessorRefused, match="Invalid currency: xyzw"):
        gateway(server).sell(replace(SALE, currency="XYZW"), "refused")
    gateway(server).archive("price_nobody")
    gateway(server).check()


def signed(payload: bytes, at: int) -> str:
    digest = hmac.new(b"whsec_x", f"{at}.".encode() + payload, "sha256").hexdigest()
    return f"t={at},v1={digest}"


def test_only_a_fresh_report_with_the_right_signature_is_read() -> None:
    payload = json.dumps(
        {
            "id": "evt_1",
            "object": "event",
            "type": "checkout.session.completed",
            "data": {
                "object": {
                    "object": "checkout.session",
                    "client_reference_id": "ref",
                    "payment_status": "paid",
                }
            },
        }
    ).encode()
    now = int(time.time())
    read = StripeEvent("checkout.session.completed", "ref")
    assert read_event(payload, signed(payload, now), "whsec_x") == read
    for bytes_, signature, secret in (
        (payload, signed(payload, now - 301), "whsec_x"),
        (payload + b" ", signed(payload, now), "whsec_x"),
        (payload, signed(payload, now), "whsec_other"),
        (payload, "", "whsec_x"),
        (b"\xff", signed(b"\xff", now), "whsec_x"),
    ):
        assert read_event(bytes_, signature, secret) is None
