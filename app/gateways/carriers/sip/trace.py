"""Parse the SIP messages of one baresip from its trace, the only place that shows all of them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_HEAD = re.compile(r"(?:UDP|TCP|TLS) (\S+) -> \S+")
_STATUS = re.compile(r"SIP/2\.0 (\d{3}) ?(.*)")


@dataclass(frozen=True, slots=True)
class SipMessage:
    """``code`` and ``phrase`` of an answer; ``code`` is 0 for a request. Header names are lower
    case."""

    method: str
    code: int
    phrase: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


class SipTrace:
    """Parses baresip's output piece by piece."""

    def __init__(self) -> None:
        self._rest = ""
        self._lines: list[str] | None = None

    def read(self, text: str) -> Iterator[SipMessage]:
        """Return the messages that this piece completes."""
        *lines, self._rest = (self._rest + text).split("\n")
        for raw in lines:
            line = raw.rstrip("\r")
            if self._lines is None:
                if _HEAD.fullmatch(line):
                    self._lines = []
            elif line:
                self._lines.append(line)
            else:
                if message := self._understood(self._lines):
                    yield message
                self._lines = None

    def _understood(self, lines: list[str]) -> SipMessage | None:
        if not lines:
            return None
        start, *rest = lines
        headers: dict[str, str] = {}
        for line in rest:
            name, _, value = line.partition(":")
            headers.setdefault(name.strip().lower(), value.strip())
        method = headers.get("cseq", "").rpartition(" ")[2]
        if status := _STATUS.fullmatch(start):
            return SipMessage(method, int(status[1]), status[2], headers=headers)
        return SipMessage(method, 0, headers=headers)
