"""A test of a carrier account's connection, as a durable workflow.

A worker that dies leaves the test to the next one, which queries the carrier again.
"""

import logging
from uuid import UUID

from dbos import DBOS

from app.config import Settings
from app.database import Database
from app.enums import CarrierKind
from app.gateways.carriers.account_check import check_credentials
from app.gateways.carriers.partner_accounts import AccountTestResult
from app.jobs.context import context
from app.jobs.observed import observe_job
from app.jobs.read_carrier_numbers import list_numbers
from app.jobs.resilience import retry_on_database_outage
from app.services import carrier_accounts, phone_numbers

log = logging.getLogger(__name__)

FAILED = "The test could not be completed. Try again."


@DBOS.workflow(name="test_carrier_account")
@observe_job
def test_carrier_account(account_id: str) -> None:
    """Query the carrier and store the result."""
    ask_carrier_about_account(account_id)


@DBOS.step(name="ask_carrier_about_account")
@retry_on_database_outage
def ask_carrier_about_account(account_id: str) -> None:
    check_account(context().database, context().settings, UUID(account_id))


def check_account(database: Database, settings: Settings, account_id: UUID) -> None:
    """Test the account without an open transaction. Does nothing if no test is requested.

    The numbers of a newly used account are confirmed in the same transaction, so that no waiting
    call is refused in between.
    """
    with database.transaction(read_only=True) as session:
        test = carrier_accounts.begin_test(session, settings.secret_keys, account_id)
    if test is None:
        return
    if test.credentials is None:
        secret = "password" if test.account.trunk is not None else "token"
        result = AccountTestResult(False, f"The stored {secret} can’t be read. Enter it again.")
    else:
        try:
            result = check_credentials(settings, test.credentials, test.numbers)
        except Exception:
            log.exception("the test of a carrier account failed")
            result = AccountTestResult(False, FAILED)
    numbers = None
    if result.works and test.account.is_pending and test.account.carrier is CarrierKind.TWILIO:
        numbers = list_numbers(settings, test.credentials)
    with database.transaction() as session:
        used = carrier_accounts.end_test(session, account_id, result, test.account.version)
        if used is not None and numbers is not None:
            phone_numbers.store_unrequested(session, used, numbers)
