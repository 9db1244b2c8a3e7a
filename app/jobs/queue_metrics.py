"""The metrics of the queue, read from the database whenever they are asked for."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from app.database import Database
from app.gateways.job_queue import depths
from app.models import utcnow

WAITING = "portal_queue_waiting"
RUNNING = "portal_queue_running"
OLDEST = "portal_queue_oldest_seconds"


class QueueMetrics(Collector):
    """How much of each queue waits and runs, and the age of the oldest that waits. All workers
    report the same numbers. Nothing while the database can't be used."""

    def __init__(self, database: Database):
        self._database = database

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """The families without values: registering the collector asks no database."""
        yield from _families()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        try:
            with self._database.transaction(read_only=True) as session:
                found = depths(session)
        except SQLAlchemyError:
            return
        waiting, running, oldest = _families()
        now = utcnow()
        for queue in found:
            age = (now - queue.oldest_at).total_seconds() if queue.oldest_at else 0.0
            waiting.add_metric([queue.name], queue.waiting)
            running.add_metric([queue.name], queue.running)
            oldest.add_metric([queue.name], max(0.0, age))
        yield from (waiting, running, oldest)


def _families() -> tuple[GaugeMetricFamily, GaugeMetricFamily, GaugeMetricFamily]:
    return (
        GaugeMetricFamily(WAITING, "Work that waits for its turn.", labels=("queue",)),
        GaugeMetricFamily(RUNNING, "Work that runs now.", labels=("queue",)),
        GaugeMetricFamily(OLDEST, "Age of the oldest work that waits.", labels=("queue",)),
    )
