"""Prices of an outside processor: which are asked about next, and what its answers leave behind."""

from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Tier
from app.gateways.processors.base import ListedPrice, PriceReference
from app.models import ProcessorAccount, ProcessorCheck, ProcessorPrice, utcnow
from app.services.pricing import refresh as pricing_refresh
from tests.fixtures.tenants import make_partner

PLUS = {
    "tier": Tier.PLUS.value,
    "processorPriceId": "price_plus",
    "processorProductId": "prod_plus",
}
BASIC = {
    "tier": Tier.BASIC.value,
    "processorPriceId": "price_basic",
    "processorProductId": "prod_basic",
}
INQUIRY = PriceReference(Tier.PLUS, "price_plus", "prod_plus")


def stored_prices(session: Session) -> list[tuple[str, str, Decimal, str]]:
    rows = session.scalars(select(ProcessorPrice).order_by(ProcessorPrice.price_id))
    return [(row.price_id, row.name, row.cost, row.currency) for row in rows]


def store_check(
    session: Session, partner_id: UUID, price_id: str, found: bool, at: datetime
) -> None:
    check = ProcessorCheck(partner_id=partner_id, price_id=price_id, found=found, asked_at=at)
    session.merge(check)
    session.flush()


def test_an_id_is_asked_about_once_however_many_partners_name_it(session: Session) -> None:
    make_partner(session, pricing=[PLUS])
    make_partner(session, "Southbank", pricing=[PLUS])
    assert pricing_refresh.due(session) == [INQUIRY]
    answer = {"price_plus": ListedPrice("Plus", Decimal(99), "USD")}
    pricing_refresh.store_prices(session, None, [INQUIRY], answer)
    assert stored_prices(session) == [("price_plus", "Plus", Decimal(99), "USD")] * 2
    assert pricing_refresh.due(session) == []


def test_an_answer_of_the_installation_is_not_one_of_a_partners_own_account(
    session: Session,
) -> None:
    make_partner(session, pricing=[PLUS])
    connected = make_partner(session, "Southbank", pricing=[PLUS])
    session.add(ProcessorAccount(partner_id=connected.id, secret="sealed"))
    answer = {"price_plus": ListedPrice("Plus", Decimal(99), "USD")}
    pricing_refresh.store_prices(session, None, [INQUIRY], answer)
    assert pricing_refresh.due(session) == []
    assert pricing_refresh.due(session, connected.id) == [INQUIRY]
    pricing_refresh.store_prices(session, connected.id, [INQUIRY], {})
    assert stored_prices(session) == [("price_plus", "Plus", Decimal(99), "USD")]


def test_unknown_prices_are_asked_first_and_fresh_ones_not_at_all(session: Session) -> None:
    free = {**PLUS, "tier": Tier.FREE.value, "processorPriceId": "price_free"}
    partner_id = make_partner(session, pricing=[PLUS, BASIC, free]).id
    store_check(session, partner_id, "price_plus", True, utcnow() - timedelta(minutes=11))
    store_check(session, partner_id, "price_free", True, utcnow() - timedelta(minutes=9))
    due = [confirmation.price_id for confirmation in pricing_refresh.due(session)]
    assert due == ["price_basic", "price_plus"]


def test_an_answer_is_kept_and_asked_for_again_later(session: Session) -> None:
    make_partner(session, pricing=[PLUS])
    answer = {"price_plus": ListedPrice("Plus", Decimal(99), "USD", "prod_plus")}
    pricing_refresh.store_prices(session, None, [INQUIRY], answer)
    assert stored_prices(session) == [("price_plus", "Plus", Decimal(99), "USD")]
    assert pricing_refresh.due(session) == []


def test_a_price_that_is_gone_at_the_processor_stays_as_it_was_last_known(
    session: Session,
) -> None:
    partner_id = make_partner(session, pricing=[PLUS]).id
    pricing_refresh.store_prices(
        session, None, [INQUIRY], {"price_plus": ListedPrice("Plus", Decimal(99), "USD")}
    )
    pricing_refresh.store_prices(session, None, [INQUIRY], {})
    check = session.get_one(ProcessorCheck, (partner_id, "price_plus"))
    assert (stored_prices(session), check.found) == (
        [("price_plus", "Plus", Decimal(99), "USD")],
        False,
    )


def test_a_new_answer_replaces_the_old_one(session: Session) -> None:
    make_partner(session, pricing=[PLUS])
    for cost in (99, 120):
        price = ListedPrice("Plus", Decimal(cost), "USD")
        pricing_refresh.store_prices(session, None, [INQUIRY], {"price_plus": price})
    assert stored_prices(session) == [("price_plus", "Plus", Decimal(120), "USD")]
