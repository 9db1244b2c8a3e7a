"""Reading the numbers of a carrier account, as a durable workflow.

A worker that dies leaves the reading to the next one, which queries the carrier again.
"""

import logging
from uuid import UUID

from dbos import DBOS

from app.config import Settings
from app.database import Database
from app.gateways.carriers.account_check import listed_numbers
from app.gateways.carriers.partner_accounts import AccountCredentials, ListedNumbers
from app.jobs.context import context
from app.jobs.observed import observe_job
from app.jobs.resilience import retry_on_database_outage
from app.services import phone_numbers

log = logging.getLogger(__name__)

FAILED = "The list could not be read. Refresh it again."
UNREADABLE = "The stored token can’t be read. Enter it again."


@DBOS.workflow(name="read_carrier_numbers")
@observe_job
def read_carrier_numbers(account_id: str) -> None:
    """Query the carrier for its list, and store it."""
    ask_carrier_for_numbers(account_id)


@DBOS.step(name="ask_carrier_for_numbers")
@retry_on_database_outage
def ask_carrier_for_numbers(account_id: str) -> None:
    read_numbers(context().database, context().settings, UUID(account_id))


def read_numbers(database: Database, settings: Settings, account_id: UUID) -> None:
    """Read the list without an open transaction. Does nothing if no reading is requested."""
    with database.transaction(read_only=True) as session:
        list_request = phone_numbers.reading_data(session, settings.secret_keys, account_id)
    if list_request is None:
        return
    numbers = list_numbers(settings, list_request.credentials)
    with database.transaction() as session:
        phone_numbers.store_reading(session, account_id, numbers)


def list_numbers(settings: Settings, credentials: AccountCredentials | None) -> ListedNumbers:
    """Return the carrier's list. ``credentials`` is None if the stored secret can't be read."""
    if credentials is None:
        return ListedNumbers(False, message=UNREADABLE)
    try:
        return listed_numbers(settings, credentials)
    except Exception:
        log.exception("the numbers of a carrier account could not be read")
        return ListedNumbers(False, message=FAILED)
