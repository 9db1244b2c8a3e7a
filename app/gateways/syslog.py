"""A syslog server that receives the history from the worker."""

import socket
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

_SECONDS = 5.0
_HEAD = "<86>portal-history: "
"""Priority of each line: facility authpriv, severity info (RFC 3164, section 4.1.1)."""


class SyslogUnavailable(Exception):
    """The server is unreachable, or didn't accept a line."""


class SyslogConnection:
    """A connection, as a context manager. ``url`` is ``udp://``, ``tcp://`` or ``unix://``.

    Raises `SyslogUnavailable`. Delivery over UDP is not confirmed.
    """

    def __init__(self, url: str):
        self._url = urlsplit(url)

    def __enter__(self) -> Self:
        try:
            self._socket = self._connect()
        except OSError as error:
            raise SyslogUnavailable(str(error)) from error
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._socket.close()

    def send(self, line: str) -> None:
        end = "\n" if self._url.scheme == "tcp" else ""
        try:
            self._socket.sendall(f"{_HEAD}{line}{end}".encode())
        except OSError as error:
            raise SyslogUnavailable(str(error)) from error

    def _connect(self) -> socket.socket:
        if self._url.scheme == "unix":
            local = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            local.settimeout(_SECONDS)
            local.connect(self._url.path)
            return local
        host, port = str(self._url.hostname), self._url.port or 514
        if self._url.scheme == "tcp":
            return socket.create_connection((host, port), timeout=_SECONDS)
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        remote = socket.socket(family, kind)
        remote.settimeout(_SECONDS)
        remote.connect(address)
        return remote
