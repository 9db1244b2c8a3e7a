"""The costs of calls, as soon as the carrier reports them."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from app.config import Settings
from app.jobs import call_costs
from app.policy.caller import Caller, system_caller
from app.services import calls
from app.services.carrier_accounts import AccountFields
from tests.fixtures.carrier_accounts import put_in_use
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.twilio_worker import TwilioWorker
from tests.fixtures.worker import create_calling_organization, outcome
from tests.fixtures.worker_context import worker_context

pytestmark = pytest.mark.xdist_group("twilio")


@pytest.fixture(autouse=True)
def settings(twilio_worker: TwilioWorker, tmp_path: Path) -> Iterator[Settings]:
    """The settings of the worker whose tasks the tests run."""
    given = twilio_worker.carrier.settings
    settings = settings_for(url_of(twilio_worker.database), tmp_path, carrier="twilio", **given)
    with worker_context(settings):
        yield settings


def cost(twilio_worker: TwilioWorker, call_id: UUID) -> tuple[Decimal | None, str | None]:
    """The stored cost of the call, after the carriers were queried."""
    call_costs.ask_for_costs()
    with twilio_worker.database.transaction(read_only=True) as session:
        [attempt] = calls.attempts_of(session, [call_id])[call_id]
        return attempt.cost, attempt.cost_currency


def ended_call(twilio_worker: TwilioWorker, **behaviours: str) -> tuple[UUID, str]:
    """A call over the installation's account that has ended, and its number."""
    number = twilio_worker.number(**behaviours)
    call_id = twilio_worker.dial(number)
    outcome(twilio_worker.database, call_id)
    return call_id, number


def test_a_cost_is_stored_when_the_carrier_reports_it(twilio_worker: TwilioWorker) -> None:
    call_id, number = ended_call(twilio_worker)
    assert cost(twilio_worker, call_id) == (None, None)
    twilio_worker.carrier.behaviours[number].price = "-0.01350"
    assert cost(twilio_worker, call_id) == (Decimal("0.0135"), "USD")
    twilio_worker.carrier.behaviours[number].price = "-9"
    assert cost(twilio_worker, call_id) == (Decimal("0.0135"), "USD")


def test_a_call_deleted_at_the_carrier_does_not_hide_the_costs_of_others(
    twilio_worker: TwilioWorker,
) -> None:
    call_id, _ = ended_call(twilio_worker, price="-0.01350")
    _, number = ended_call(twilio_worker)
    [deleted] = twilio_worker.carrier.calls_to(number)
    twilio_worker.carrier.ledger.remove(deleted)
    assert cost(twilio_worker, call_id) == (Decimal("0.0135"), "USD")


def test_an_account_that_is_refused_does_not_hide_the_costs_of_others(
    twilio_worker: TwilioWorker, settings: Settings
) -> None:
    call_id, _ = ended_call(twilio_worker, price="-0.01350")
    calling_organization = create_calling_organization(twilio_worker.database)
    caller: Caller = system_caller("colleague", calling_organization.partner_id)
    sid, token = f"AC{uuid4().hex}", uuid4().hex
    twilio_worker.carrier.accounts[sid] = token
    with twilio_worker.database.transaction() as session:
        account = AccountFields(token, sid=sid)
        put_in_use(session, caller, settings.secret_keys, account, organization=None)
    refused_id = twilio_worker.dial(twilio_worker.number(price="-1"), calling_organization)
    outcome(twilio_worker.database, refused_id)
    twilio_worker.carrier.accounts[sid] = "revoked"
    assert cost(twilio_worker, call_id) == (Decimal("0.0135"), "USD")
    assert cost(twilio_worker, refused_id) == (None, None)
