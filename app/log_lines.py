"""Log lines that what a client sends can't forge.

A path, a header or a file name can hold line breaks and the control characters of a terminal. Every
line of a message but its first would look like a line of ours, so these characters are written as
escapes, and the lines of a traceback begin with a space.
"""

import logging
import re
from typing import Any

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"

_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
"""C0 and C1 control characters, separators of lines, and marks that reorder text."""


def escaped(text: str) -> str:
    """The text on one line, each control character as in Python: ``\\n``, ``\\x1b``."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class LineFormatter(logging.Formatter):
    """Writes a record as one line, and a traceback as indented lines below it."""

    def __init__(self, fmt: str = FORMAT, datefmt: str | None = None, style: Any = "%"):
        super().__init__(fmt, datefmt, style)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        return escaped(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802 - logging's name
        return _indented(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802 - logging's name
        return _indented(stack_info)


def _indented(text: str) -> str:
    return "\n".join(f"  {escaped(line)}" for line in text.split("\n"))


def configure(level: int = logging.WARNING) -> logging.Handler:
    """Write the log of this process to stderr. Return the handler."""
    handler = logging.StreamHandler()
    handler.setFormatter(LineFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    return handler
