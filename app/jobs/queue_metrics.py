"""The metrics of the queue, read from the database at each scrape."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from app.database import Database
from app.gateways.job_queue import depths
from app.models import utcnow
from app.services import workers

WAITING = "portal_queue_waiting"
RUNNING = "portal_queue_running"
OLDEST = "portal_queue_oldest_seconds"
WORKERS = "portal_queue_workers"


class QueueMetrics(Collector):
    """How much of each queue waits and runs, the age of the oldest waiting job, and how many
    workers serve it. All workers report the same numbers; none while the database is
    unreachable."""

    def __init__(self, database: Database, silent_seconds: float):
        """A worker without a heartbeat for ``silent_seconds`` no longer counts."""
        self._database = database
        self._silent_seconds = silent_seconds

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Return the families without values: registering the collector reads no database."""
        yield from _metric_families()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        try:
            with self._database.transaction(read_only=True) as session:
                queues = depths(session)
                serving = workers.by_queue(workers.listing(session, self._silent_seconds).online)
        except SQLAlchemyError:
            return
        waiting, running, oldest, served = families = _metric_families()
        now = utcnow()
        for queue in queues:
            age = (now - queue.oldest_at).total_seconds() if queue.oldest_at else 0.0
            waiting.add_metric([queue.name], queue.waiting)
            running.add_metric([queue.name], queue.running)
            oldest.add_metric([queue.name], max(0.0, age))
            served.add_metric([queue.name], serving[queue.name])
        yield from families


def _metric_families() -> tuple[GaugeMetricFamily, ...]:
    return (
        GaugeMetricFamily(WAITING, "Work that waits for its turn.", labels=("queue",)),
        GaugeMetricFamily(RUNNING, "Work that runs now.", labels=("queue",)),
        GaugeMetricFamily(OLDEST, "Age of the oldest work that waits.", labels=("queue",)),
        GaugeMetricFamily(WORKERS, "Living workers that serve the queue.", labels=("queue",)),
    )
