"""The web server's own log lines."""

import logging
from typing import Any

from gunicorn.glogging import Logger

from app.config import read_settings
from app.log_lines import LineFormatter, json_formatter


class LineLogger(Logger):
    """Writes gunicorn's lines, including access lines, so that no header or path can forge one."""

    def _set_handler(
        self, log: logging.Logger, output: Any, fmt: logging.Formatter, stream: Any = None
    ) -> None:
        super()._set_handler(log, output, fmt, stream)  # type: ignore[no-untyped-call]  # gunicorn has no types
        as_json = read_settings().logs_json
        for handler in log.handlers:
            line_formatter = LineFormatter(str(fmt._fmt), fmt.datefmt)  # noqa: SLF001 - no other way to it
            handler.setFormatter(json_formatter() if as_json else line_formatter)
