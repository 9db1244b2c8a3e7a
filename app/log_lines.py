"""Log lines: for people in development, as JSON in production, one line for each record.

A path, a header or a file name can hold line breaks and the control characters of a terminal. Each
further line of a message would look like a log line of its own, so these characters are escaped.
Each record carries the ids of its request or job, and no personal data (`app.telemetry.scrubbing`).
"""

import logging
import re
from typing import Any

from app.telemetry.context import current
from app.telemetry.scrubbing import scrub

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
ACCESS = "app.access"
"""The log of answered requests, written although other messages of the web process at this level
are not."""
FIELDS = "fields"
"""The attribute of a record with the fields that JSON shows besides the message."""

_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
"""C0 and C1 control characters, separators of lines, and marks that reorder text."""


def escape_controls(text: str) -> str:
    """Return the text on one line, each control character as in Python: ``\\n``, ``\\x1b``."""
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


class LineFormatter(logging.Formatter):
    """Writes a record as one line with its ids, and a traceback as indented lines below it."""

    def __init__(self, fmt: str = FORMAT, datefmt: str | None = None, style: Any = "%"):
        super().__init__(fmt, datefmt, style)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        ids = "".join(f" {name}={value}" for name, value in current().items())
        return escape_controls(scrub(super().formatMessage(record))) + ids

    def formatException(self, ei: Any) -> str:  # noqa: N802 - logging's name
        return _indent(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802 - logging's name
        return _indent(stack_info)


def _indent(text: str) -> str:
    return "\n".join(f"  {escape_controls(line)}" for line in scrub(text).split("\n"))


def json_formatter() -> logging.Formatter:
    """Return a formatter that writes a record as one JSON object of ASCII characters, a traceback
    in its field ``exception``."""
    import structlog

    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[_with_ids],
        processors=[
            structlog.stdlib.add_log_level,
            _with_name_of_log,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _scrub,
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.JSONRenderer(),
        ],
    )


def _with_ids(_logger: Any, _method: str, event: Any) -> Any:
    return {**event, **getattr(event["_record"], FIELDS, {}), **current()}


def _with_name_of_log(_logger: Any, _method: str, event: Any) -> Any:
    event["logger"] = event["_record"].name
    return event


def _scrub(_logger: Any, _method: str, event: Any) -> Any:
    if event["logger"] != ACCESS:  # its messages hold only a route and numbers, and are frequent
        event["event"] = scrub(event["event"])
        event["logger"] = scrub(event["logger"])
    if "exception" in event:
        event["exception"] = scrub(event["exception"])
    return event


def formatter(*, as_json: bool) -> logging.Formatter:
    return json_formatter() if as_json else LineFormatter()


def configure(level: int = logging.WARNING, *, as_json: bool = False) -> logging.Handler:
    """Write the log of this process to stderr. Return the handler."""
    handler = logging.StreamHandler()
    handler.setFormatter(formatter(as_json=as_json))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.getLogger(ACCESS).setLevel(logging.INFO)
    return handler
