"""Rotation of the monthly partitions: by the worker each hour, and by ``flask migrate``."""

import logging

from sqlalchemy.exc import OperationalError, ProgrammingError

from app.config import Settings
from app.database import Database, partitions
from app.services import retention

log = logging.getLogger(__name__)


def rotate_partitions(database: Database, settings: Settings) -> None:
    """Create the coming months of tables and drop the expired ones, one table per transaction.

    A table that others lock for long is handled next time. A role that doesn't own the tables
    leaves this to the migrating role.
    """
    days = {
        "call_events": settings.call_event_days,
        "mails": settings.mail_days,
        "webhook_deliveries": settings.webhook_days,
    }
    for table in partitions.KEYS:
        try:
            with database.transaction() as session:
                dropped = retention.rotate_partitions(session, table, days[table])
        except (OperationalError, ProgrammingError) as error:
            log.warning("the partitions of %s were not rotated: %s", table, str(error.orig).strip())
        else:
            for name in dropped:
                log.info("dropped the month %s", name)
