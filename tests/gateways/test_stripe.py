"""Stripe's prices through the official SDK, asked of a server that answers as Stripe does."""

import socket
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from app.enums import Tier
from app.gateways.processors import open_processor
from app.gateways.processors.base import Price, PriceReference, ProcessorUnavailable
from app.gateways.processors.stripe import Stripe
from tests.fixtures.settings import settings_for
from tests.fixtures.stripe_server import KEY, StripeServer, stripe_server


@pytest.fixture(scope="module")
def server() -> Iterator[StripeServer]:
    with stripe_server() as running:
        yield running


def ask(server: StripeServer, *price_ids: str) -> dict[str, Price]:
    questions = [PriceReference(Tier.PLUS, price_id, "prod_x") for price_id in price_ids]
    return dict(Stripe(KEY, server.url).prices(questions))


def test_a_price_has_its_products_name_and_its_cost_in_currency_units(
    server: StripeServer,
) -> None:
    price = server.price("Plus", 9900)
    assert ask(server, price.id) == {
        price.id: Price("Plus", Decimal("99.00"), "USD", price.product)
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


def test_ids_that_it_does_not_know_are_left_out(server: StripeServer) -> None:
    price = server.price("Basic", 2900)
    assert list(ask(server, "price_nobody", price.id, "../charges")) == [price.id]


def test_an_unreachable_server_is_reported() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        gateway = Stripe(KEY, f"http://127.0.0.1:{port}")
        with pytest.raises(ProcessorUnavailable) as refused:
            gateway.prices([PriceReference(Tier.PLUS, "price_x", "prod_x")])
    assert str(refused.value) == "Stripe gave no answer: APIConnectionError"


def test_a_key_that_is_refused_is_no_answer(server: StripeServer) -> None:
    with pytest.raises(ProcessorUnavailable) as refused:
        Stripe("no key at all", server.url).prices([PriceReference(Tier.PLUS, "price_x", "p")])
    assert str(refused.value) == "Stripe gave no answer: AuthenticationError"


def test_the_settings_choose_the_processor(tmp_path: Path) -> None:
    url = "sqlite:///x"
    stripe = settings_for(url, tmp_path, processor="stripe", stripe_key=KEY)
    assert open_processor(settings_for(url, tmp_path)).name == "built-in price list"
    assert (open_processor(stripe).name, open_processor(stripe).is_outside) == ("Stripe", True)


def test_stripe_without_a_key_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="PORTAL_STRIPE_KEY must be set"):
        settings_for("sqlite:///x", tmp_path, processor="stripe")
