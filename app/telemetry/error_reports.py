"""Sends errors to Sentry, if `start` was called: the place in the code, and the ids of the request
or job. No local variables, no request, no user, and messages only as `scrub` leaves them."""

import logging
from typing import Any

from app.telemetry.context import current
from app.telemetry.scrubbing import scrub

_started: list[str] = []


def start(dsn: str, environment: str) -> None:
    """Start reporting errors. Raises `ImportError` unless the extra ``sentry`` is installed."""
    import sentry_sdk
    from sentry_sdk.integrations.logging import LoggingIntegration

    sentry_sdk.init(
        dsn=dsn,
        environment=environment,
        default_integrations=False,
        auto_enabling_integrations=False,
        integrations=[LoggingIntegration(level=None, event_level=logging.ERROR)],
        include_local_variables=False,
        include_source_context=True,
        max_breadcrumbs=0,
        send_default_pii=False,
        server_name="",
        before_send=_clean_event,
    )
    _started[:] = [environment]


def stop() -> None:
    """Send the remaining reports."""
    if not _started:
        return
    import sentry_sdk

    sentry_sdk.flush(timeout=2)


def _clean_event(event: Any, _hint: Any) -> Any:
    """Keep the allowed parts of an event; the ids become tags, by which Sentry searches."""
    cleaned = {
        name: event[name]
        for name in ("event_id", "timestamp", "level", "logger", "platform", "environment", "sdk")
        if name in event
    }
    if "logentry" in event:
        cleaned["logentry"] = {"message": scrub(_log_message(event["logentry"]))}
    errors = (event.get("exception") or {}).get("values") or []
    cleaned["exception"] = {"values": [_clean_error(each) for each in errors]}
    cleaned["tags"] = current()
    return cleaned


def _log_message(entry: Any) -> str:
    return str(entry.get("formatted") or entry.get("message") or "")


def _clean_error(error: Any) -> dict[str, Any]:
    return {
        "type": error.get("type"),
        "module": error.get("module"),
        "value": scrub(str(error.get("value") or "")),
        "stacktrace": error.get("stacktrace"),
    }
