"""Traces by OpenTelemetry: request, queue, carrier, webhook. Off unless `start` was called.

Spans hold ids, names of operations and statuses, never texts of a request or an error.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from app.telemetry.context import add_source

Kind = Literal["server", "client", "consumer", "internal"]

HEADER = "traceparent"
"""W3C Trace Context, level 1."""


@dataclass(frozen=True, slots=True)
class _Tracing:
    """The parts of OpenTelemetry in use; it is installed only where traces are wanted."""

    api: Any
    propagator: Any
    provider: Any
    tracer: Any


_tracing: list[_Tracing] = []


def start(url: str, share: float, service: str) -> None:
    """Send spans to an OTLP collector over HTTP, from a separate thread.

    ``share`` of the traces that begin here is kept; the caller decides about its own. Raises
    `ImportError` unless the extra ``tracing`` is installed.
    """
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (
        OTLPSpanExporter,
    )
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import (
        ParentBased,
        TraceIdRatioBased,
    )
    from opentelemetry.trace.propagation.tracecontext import (
        TraceContextTextMapPropagator,
    )

    provider = TracerProvider(
        resource=Resource.create({"service.name": f"portal-{service}"}),
        sampler=ParentBased(TraceIdRatioBased(share)),
    )
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=url)))
    tracer = provider.get_tracer("portal")
    _tracing[:] = [_Tracing(trace, TraceContextTextMapPropagator(), provider, tracer)]
    add_source(_trace_ids)


def stop() -> None:
    """Send the remaining spans, and end tracing."""
    for tracing in _tracing:
        tracing.provider.shutdown()
    _tracing.clear()


@contextmanager
def span(
    name: str,
    kind: Kind = "internal",
    *,
    parent: str | None = None,
    attributes: Mapping[str, str | int] | None = None,
) -> Iterator[None]:
    """Open a span around the block. ``parent`` is a ``traceparent`` from outside."""
    if not _tracing:
        yield
        return
    tracing = _tracing[0]
    opened = tracing.tracer.start_as_current_span(
        name,
        context=tracing.propagator.extract({HEADER: parent}) if parent else None,
        kind=tracing.api.SpanKind[kind.upper()],
        attributes=dict(attributes or {}),
        record_exception=False,  # its message can hold personal data
        set_status_on_exception=False,
    )
    with opened as current:
        try:
            yield
        except BaseException as error:
            current.set_attribute("error.type", type(error).__qualname__)
            current.set_status(tracing.api.StatusCode.ERROR)
            raise


def describe(name: str, attributes: Mapping[str, str | int], *, is_error: bool = False) -> None:
    """Name the current span, and add attributes that became known only now."""
    if _tracing:
        current = _tracing[0].api.get_current_span()
        current.update_name(name)
        current.set_attributes(dict(attributes))
        if is_error:
            current.set_status(_tracing[0].api.StatusCode.ERROR)


def trace_parent() -> str | None:
    """Return the ``traceparent`` to pass on; None without a trace."""
    if not _tracing:
        return None
    carrier: dict[str, str] = {}
    _tracing[0].propagator.inject(carrier)
    return carrier.get(HEADER)


def _trace_ids() -> dict[str, str]:
    parent = trace_parent()
    return {"trace_id": parent.split("-")[1]} if parent else {}
