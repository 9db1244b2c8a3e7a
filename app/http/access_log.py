"""One log line per answered request: route, caller, status, duration.

URLs can hold names, search words and tokens, so the line has the route and those of its values that
are UUIDs. The line of a failed request includes its traceback.
"""

import logging
import re
import time
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from flask import Flask, Response, g, has_request_context, request

from app.http.bounded_request import BoundedRequest
from app.http.request_id import request_id
from app.log_lines import ACCESS, FIELDS
from app.policy.caller import Caller
from app.telemetry import metrics, tracing
from app.telemetry.context import add_source, working_on

QUIET = frozenset({"health.healthz", "health.readyz", "health.readyz_web"})
"""Endpoints that are requested every few seconds, and logged only if they fail."""

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

log = logging.getLogger(ACCESS)


class PortalApp(Flask):
    """Logs an error with the line of its request, and caches the paths of pages without values:
    each page links about fifty."""

    request_class = BoundedRequest

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self._paths: dict[str, str] = {}

    def url_for(self, endpoint: str, **values: Any) -> str:
        if values or endpoint.startswith(".") or not has_request_context() or request.script_root:
            return super().url_for(endpoint, **values)
        path = self._paths.get(endpoint)
        if path is None:
            path = self._paths[endpoint] = super().url_for(endpoint)
        return path

    def log_exception(
        self, exc_info: tuple[type, BaseException, TracebackType] | tuple[None, None, None]
    ) -> None:
        g.failure = exc_info


def log_requests(app: Flask) -> None:
    """Log, count and trace every request. Call it before anything else registers functions that
    run before requests."""
    add_source(ids_of_request)

    @app.before_request
    def _begin() -> None:
        g.request_began = time.perf_counter()
        g.telemetry = ExitStack()
        parent = request.headers.get(tracing.HEADER)
        g.telemetry.enter_context(tracing.span("request", "server", parent=parent))
        g.telemetry.enter_context(working_on())

    @app.after_request
    def _end(response: Response) -> Response:
        seconds = time.perf_counter() - g.get("request_began", time.perf_counter())
        _count_request(response, seconds)
        _describe_span(response)
        if request.endpoint not in QUIET or response.status_code >= 500:
            _log_request(response, seconds)
        return response

    @app.teardown_request
    def _leave(_error: BaseException | None) -> None:
        if "telemetry" in g:
            g.pop("telemetry").close()


def ids_of_request() -> dict[str, object]:
    """Return the ids of the request and its caller; empty outside of a request."""
    if not has_request_context():
        return {}
    caller: Caller | None = g.get("caller")
    if caller is None:
        return {"request_id": request_id()}
    return {
        "request_id": request_id(),
        "caller": caller.kind.value,
        "caller_id": caller.subject_id,
        "partner_id": caller.partner_id,
        "organization_id": caller.organization_id,
    }


def _method() -> str:
    return request.method if request.method in _METHODS else "OTHER"


def _face() -> str:
    return (request.blueprint or "none").partition(".")[0]


def _route() -> str:
    return request.url_rule.rule if request.url_rule else "-"


def _count_request(response: Response, seconds: float) -> None:
    metrics.HTTP_REQUESTS.labels(_face(), _method(), response.status_code).inc()
    metrics.HTTP_SECONDS.labels(_face()).observe(seconds)


def _describe_span(response: Response) -> None:
    status = response.status_code
    attributes: dict[str, str | int] = {
        "http.request.method": _method(),
        "http.route": _route(),
        "http.response.status_code": status,
        "portal.request_id": request_id(),
    }
    tracing.describe(f"{_method()} {_route()}", attributes, is_error=status >= 500)


def _log_request(response: Response, seconds: float) -> None:
    milliseconds = round(seconds * 1000, 1)
    fields: dict[str, Any] = {
        "method": _method(),
        "route": _route(),
        "status": response.status_code,
        "ms": milliseconds,
        "targets": path_ids() or None,
        "code": g.get("error_code"),
    }
    level = logging.ERROR if "failure" in g else logging.INFO
    log.log(
        level,
        "%s %s %d in %.1f ms",
        fields["method"],
        fields["route"],
        response.status_code,
        milliseconds,
        exc_info=g.get("failure"),
        extra={FIELDS: {name: value for name, value in fields.items() if value is not None}},
    )


def path_ids() -> dict[str, str]:
    """Return the values in the path that are UUIDs, by their names in the route."""
    values = {name: str(value).lower() for name, value in (request.view_args or {}).items()}
    return {name: value for name, value in values.items() if _UUID.fullmatch(value)}
