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

pytestmark = pytest.mark.xdist_group("twilio")


def test_a_cost_is_stored_when_the_carrier_reports_it(
    twilio_worker: TwilioWorker, tmp_path: Path
) -> None:
    given = twilio_worker.carrier.settings
    with worker_context(
        settings_for(url_of(twilio_worker.database), tmp_path, carrier="twilio", **given)
    ):
        number = twilio_worker.number()
        call_id = twilio_worker.dial(number)
        outcome(twilio_worker.database, call_id)

        def cost() -> tuple[Decimal | None, str | None]:
            housekeeping.ask_for_costs()
            with twilio_worker.database.transaction(read_only=True) as session:
                [attempt] = calls.attempts_of(session, [call_id])[call_id]
                return attempt.cost, attempt.cost_currency

        assert cost() == (None, None)
        twilio_worker.carrier.behaviours[number].price = "-0.01350"
        assert cost() == (Decimal("0.0135"), "USD")
        twilio_worker.carrier.behaviours[number].price = "-9"
        assert cost() == (Decimal("0.0135"), "USD")
