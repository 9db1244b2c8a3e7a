"""The worker keeps a processor's prices fresh, and the last ones when it doesn't answer."""

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import select, update

from app.database import Database
from app.enums import Tier
from app.gateways.processors.base import ListedPrice, PriceReference
from app.jobs.housekeeping import refresh_prices
from app.models import ProcessorCheck, ProcessorPrice, utcnow
from app.services.pricing import refresh
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.stripe_server import KEY, StripeServer, stripe_server
from tests.fixtures.tenants import make_partner
from tests.fixtures.waiting import wait_for, waits_for_a_lock
from tests.fixtures.worker_context import worker_context


@pytest.fixture
def server() -> Iterator[StripeServer]:
    with stripe_server() as running:
        yield running


@pytest.fixture
def database(fresh_database: Database, server: StripeServer, tmp_path: Path) -> Iterator[Database]:
    """The database of a worker whose processor is the server."""
    settings = settings_for(
        url_of(fresh_database),
        tmp_path,
        processor="stripe",
        stripe_key=KEY,
        stripe_api_url=server.url,
    )
    with worker_context(settings):
        yield fresh_database


def offer(database: Database, *price_ids: str, name: str = "Northwind") -> None:
    """A partner with a plan for each of up to three prices."""
    with database.transaction() as session:
        tiers = (Tier.FREE, Tier.BASIC, Tier.PLUS)
        entries = [
            {"tier": tier.value, "processorPriceId": price_id, "processorProductId": "prod_x"}
            for tier, price_id in zip(tiers, price_ids, strict=False)
        ]
        make_partner(session, name, pricing=entries)


def stored_prices(database: Database) -> dict[str, tuple[str, Decimal, str]]:
    with database.transaction(read_only=True) as session:
        rows = session.scalars(select(ProcessorPrice)).all()
        return {row.price_id: (row.name, row.cost, row.currency) for row in rows}


def grow_old(database: Database) -> None:
    with database.transaction() as session:
        session.execute(update(ProcessorCheck).values(asked_at=utcnow() - timedelta(minutes=11)))


def test_prices_are_fetched_and_kept(server: StripeServer, database: Database) -> None:
    basic, plus = server.price("Basic", 2900), server.price("Plus", 9900, "eur")
    offer(database, basic.id, plus.id, "price_nobody_knows")
    refresh_prices()
    assert stored_prices(database) == {
        basic.id: ("Basic", Decimal(29), "USD"),
        plus.id: ("Plus", Decimal(99), "EUR"),
    }
    with database.transaction(read_only=True) as session:
        unknown = select(ProcessorCheck.price_id).where(~ProcessorCheck.found)
        assert session.scalars(unknown).all() == ["price_nobody_knows"]


def test_more_prices_than_one_request_holds_are_all_fetched(
    server: StripeServer, database: Database
) -> None:
    ids = [server.price(f"Plan {number}", number).id for number in range(24)]
    for start in range(0, 24, 3):
        offer(database, *ids[start : start + 3], name=f"Partner {start}")
    refresh_prices()
    assert stored_prices(database).keys() == set(ids)


def test_without_an_answer_the_last_known_price_stays_and_the_log_says_so(
    server: StripeServer, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    plus = server.price("Plus", 9900)
    offer(database, plus.id)
    refresh_prices()
    before = stored_prices(database)
    grow_old(database)
    server.stop()
    with caplog.at_level(logging.WARNING):
        refresh_prices()
    assert stored_prices(database) == before
    assert "prices were not refreshed: Stripe gave no answer" in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_two_answers_about_a_new_price_at_once_are_both_stored(fresh_database: Database) -> None:
    offer(fresh_database, "price_new")
    new = PriceReference(Tier.FREE, "price_new", "prod_x")
    answer = {"price_new": ListedPrice("Plus", Decimal(99), "USD", "prod_x", "month")}

    def store() -> None:
        with fresh_database.transaction() as session:
            refresh.store_prices(session, None, [new], answer)

    with ThreadPoolExecutor(1) as other_worker:
        with fresh_database.transaction() as session:
            refresh.store_prices(session, None, [new], answer)
            stored = other_worker.submit(store)
            wait_for(lambda: waits_for_a_lock(fresh_database))
        stored.result()
    assert stored_prices(fresh_database) == {"price_new": ("Plus", Decimal(99), "USD")}
