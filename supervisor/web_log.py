"""The web server's own log lines."""

import logging
from typing import Any

from gunicorn.glogging import Logger

from app.log_lines import LineFormatter


class LineLogger(Logger):
    """gunicorn's log, including its access log, in lines that no header or path can forge."""

    def _set_handler(
        self, log: logging.Logger, output: Any, fmt: logging.Formatter, stream: Any = None
    ) -> None:
        super()._set_handler(log, output, fmt, stream)  # type: ignore[no-untyped-call]  # gunicorn has no types
        for handler in log.handlers:
            handler.setFormatter(LineFormatter(str(fmt._fmt), fmt.datefmt))  # noqa: SLF001 - no other way to it
