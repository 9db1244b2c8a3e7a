"""Web processes use the database's time, like the workers, so that machines with wrong clocks agree
about sessions, tokens and the age of heartbeats."""

import threading
import time
from contextlib import suppress

from sqlalchemy.exc import SQLAlchemyError

from app.database import Database
from app.services import common_time, workers

EVERY_SECONDS = 10.0


class CommonTime:
    """Compares the clocks regularly. On SQLite there is only one machine."""

    def __init__(self, database: Database):
        self._database = database

    def start(self) -> None:
        """Start comparing; call it in the process that answers requests."""
        if not self._database.is_sqlite:
            threading.Thread(target=self._keep_comparing, name="common time", daemon=True).start()

    def _keep_comparing(self) -> None:
        while True:
            with suppress(SQLAlchemyError):  # readiness reports an unreachable database
                self.compare()
            time.sleep(EVERY_SECONDS)

    def compare(self) -> None:
        with self._database.transaction(read_only=True) as session:
            session.connection()  # so that a new connection isn't mistaken for a slow answer
            started_at = time.monotonic()
            common_time.use_database_time(workers.database_time(session), started_at)
