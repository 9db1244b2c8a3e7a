"""The costs of calls, as soon as the carrier reports them."""

from decimal import Decimal
from pathlib import Path

import pytest

from app.jobs import housekeeping
from app.services import calls
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.twilio_worker import TwilioWorker
from tests.fixtures.worker import outcome
from tests.fixtures.worker_context import worker_context

pytestmark = pytest.mark.xdist_group("house")


def test_a_cost_is_stored_when_the_carrier_reports_it(house: TwilioWorker, tmp_path: Path) -> None:
    given = house.carrier.settings
    with worker_context(settings_for(url_of(house.database), tmp_path, carrier="twilio", **given)):
        number = house.number()
        call_id = house.dial(number)
        outcome(house.database, call_id)

        def cost() -> tuple[Decimal | None, str | None]:
            housekeeping.ask_for_costs()
            with house.database.transaction(read_only=True) as session:
                [attempt] = calls.attempts_of(session, [call_id])[call_id]
                return attempt.cost, attempt.cost_currency

        assert cost() == (None, None)
        house.carrier.manners[number].price = "-0.01350"
        assert cost() == (Decimal("0.0135"), "USD")
        house.carrier.manners[number].price = "-9"
        assert cost() == (Decimal("0.0135"), "USD")
