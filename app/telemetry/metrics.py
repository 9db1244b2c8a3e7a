"""Every metric of the portal except those of the queue (`app.jobs.queue_metrics`).

Several web processes write theirs to files of one folder if ``PROMETHEUS_MULTIPROC_DIR`` was set
before this module is imported; a worker keeps its own in memory.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any
from weakref import WeakSet

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from sqlalchemy import Engine, event
from sqlalchemy.pool import QueuePool

REGISTRY = CollectorRegistry()

_QUICK = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_LONG = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800)

HTTP_REQUESTS = Counter(
    "portal_http_requests_total",
    "Answered requests; the face is the portal or an area of the API.",
    ("face", "method", "status"),
    registry=REGISTRY,
)
HTTP_SECONDS = Histogram(
    "portal_http_request_duration_seconds",
    "Time until the answer was ready.",
    ("face",),
    buckets=_QUICK,
    registry=REGISTRY,
)
THROTTLED = Counter(
    "portal_throttled_total",
    "Requests that were asked to wait: requests, failures or password_checks.",
    ("throttle",),
    registry=REGISTRY,
)
CONNECTIONS_IN_USE = Gauge(
    "portal_database_connections_in_use",
    "Connections of a pool that are in use.",
    ("pool",),
    multiprocess_mode="livesum",
    registry=REGISTRY,
)
CONNECTIONS_LIMIT = Gauge(
    "portal_database_connections_limit",
    "The most connections that a pool opens.",
    ("pool",),
    multiprocess_mode="livesum",
    registry=REGISTRY,
)
LOG_LINES = Counter(
    "portal_log_lines_total",
    "Lines of the log.",
    ("level",),
    registry=REGISTRY,
)
HEARTBEATS = Counter(
    "portal_worker_heartbeats_total",
    "Reports of this worker to the database: ok or failed.",
    ("outcome",),
    registry=REGISTRY,
)
JOBS = Counter(
    "portal_jobs_total",
    "Work of the queue that ended: ok or failed.",
    ("job", "outcome"),
    registry=REGISTRY,
)
JOB_SECONDS = Histogram(
    "portal_job_duration_seconds",
    "Time that a piece of work took; a call takes until it is over.",
    ("job",),
    buckets=_LONG,
    registry=REGISTRY,
)
CARRIER_REQUESTS = Counter(
    "portal_carrier_requests_total",
    "Requests to a carrier: answered, refused, delayed, silent or failed.",
    ("carrier", "request", "outcome"),
    registry=REGISTRY,
)
CARRIER_SECONDS = Histogram(
    "portal_carrier_request_duration_seconds",
    "Time until the carrier answered, or until its silence was accepted.",
    ("carrier", "request"),
    buckets=_QUICK,
    registry=REGISTRY,
)
WEBHOOKS = Counter(
    "portal_webhook_requests_total",
    "Requests to receivers of webhooks: accepted, refused or silent.",
    ("outcome",),
    registry=REGISTRY,
)
WEBHOOK_SECONDS = Histogram(
    "portal_webhook_request_duration_seconds",
    "Time until the receiver of a webhook answered.",
    buckets=_QUICK,
    registry=REGISTRY,
)
IMPORTS = Counter(
    "portal_import_steps_total",
    "Steps of contact files that ended: check, apply or undo; ok or failed.",
    ("step", "outcome"),
    registry=REGISTRY,
)


_watched: WeakSet[Engine] = WeakSet()


@contextmanager
def timed(histogram: Histogram) -> Iterator[None]:
    """Record the duration of the block, also if it raises."""
    began = perf_counter()
    try:
        yield
    finally:
        histogram.observe(perf_counter() - began)


def watch_pool(name: str, engine: Engine) -> None:
    """Report how many connections of the engine's pool are in use, and how many it may open."""
    pool = engine.pool
    if not isinstance(pool, QueuePool) or engine in _watched:
        return
    _watched.add(engine)
    in_use = CONNECTIONS_IN_USE.labels(name)
    CONNECTIONS_LIMIT.labels(name).inc(pool.size() + max(0, pool._max_overflow))  # noqa: SLF001 - it has no other name

    def checked_out(*_arguments: Any) -> None:
        in_use.inc()

    def checked_in(*_arguments: Any) -> None:
        in_use.dec()

    event.listen(engine, "checkout", checked_out)
    event.listen(engine, "checkin", checked_in)


class CountLines(logging.Filter):
    """Counts the lines that a handler writes, by their level."""

    def filter(self, record: logging.LogRecord) -> bool:
        LOG_LINES.labels(record.levelname.lower()).inc()
        return True
