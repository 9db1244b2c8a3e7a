"""Looking up the host of a webhook's saved URL, as a durable workflow.

A worker that dies leaves the look-up to the next one.
"""

from urllib.parse import urlsplit
from uuid import UUID

from dbos import DBOS

from app.database import Database
from app.gateways.public_addresses import HostRefused, resolve_addresses
from app.jobs.context import context
from app.jobs.observed import observe_job
from app.jobs.resilience import retry_on_database_outage
from app.services.webhooks import addresses

HTTPS = 443
SECONDS = 5.0


@DBOS.workflow(name="check_webhook_host")
@observe_job
def check_webhook_host(webhook_id: str, url: str) -> None:
    """Look the host up and record if it isn't found."""
    look_up_host(webhook_id, url)


@DBOS.step(name="look_webhook_host_up")
@retry_on_database_outage
def look_up_host(webhook_id: str, url: str) -> None:
    allow_private = context().settings.webhook_allow_private
    check(context().database, UUID(webhook_id), url, allow_private=allow_private)


def check(database: Database, webhook_id: UUID, url: str, *, allow_private: bool) -> None:
    """Look up the host without an open transaction. An IP address that isn't public counts as not
    found."""
    try:
        resolve_addresses(
            urlsplit(url).hostname or "", HTTPS, seconds=SECONDS, allow_private=allow_private
        )
    except HostRefused:
        with database.transaction() as session:
            addresses.record_missing_host(session, webhook_id, url)
