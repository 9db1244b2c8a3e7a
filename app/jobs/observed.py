"""Observability of workflows: one log line, metrics and a span."""

import logging
from collections.abc import Callable
from functools import wraps
from inspect import signature
from time import perf_counter
from typing import Any, ParamSpec, cast

from app.telemetry import metrics, tracing
from app.telemetry.context import working_on

P = ParamSpec("P")

log = logging.getLogger("app.jobs")


def observe_job(workflow: Callable[P, None]) -> Callable[P, None]:
    """Report each run of the workflow. Everything logged in it carries those of its arguments that
    are ids.

    ``trace_parent`` comes with the work from the request that enqueued it.
    """
    name = getattr(workflow, "__name__", "workflow")
    parameters = tuple(signature(workflow).parameters)

    @wraps(workflow)
    def wrapper(*args: Any, trace_parent: str | None = None, **kwargs: Any) -> None:
        arguments = {**dict(zip(parameters, args, strict=False)), **kwargs}
        ids = {key: value for key, value in arguments.items() if key.endswith("_id") and value}
        began, outcome = perf_counter(), "failed"
        span = tracing.span(name, "consumer", parent=trace_parent, attributes=_span_attributes(ids))
        with working_on(job=name, **ids), span:
            try:
                workflow(*args, **kwargs)
                outcome = "ok"
            finally:
                seconds = perf_counter() - began
                metrics.JOBS.labels(name, outcome).inc()
                metrics.JOB_SECONDS.labels(name).observe(seconds)
                log.info("%s: %s after %.0f ms", name, outcome, seconds * 1000)

    return cast(Callable[P, None], wrapper)


def _span_attributes(ids: dict[str, Any]) -> dict[str, str | int]:
    return {f"portal.{name}": str(value) for name, value in ids.items()}
