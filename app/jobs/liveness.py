"""Whether this worker still runs its main loop, for systemd and for an HTTP probe.

An outage of the database isn't a reason to end a worker: it waits. So both detect a worker that
hangs, not one that waits.
"""

import logging
import os
import socket
import threading
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic

HANGS_AFTER_SECONDS = 120.0
"""Seconds, longer than any wait of the main loop for the database, including connecting."""
PROBE_SECONDS = 5.0
"""Seconds for one request of a probe."""

log = logging.getLogger(__name__)


class LoopLiveness:
    """The start of the main loop's latest turn. Thread-safe."""

    def __init__(self) -> None:
        self._turned_at = monotonic()

    def record_turn(self) -> None:
        self._turned_at = monotonic()

    @property
    def is_live(self) -> bool:
        return monotonic() - self._turned_at < HANGS_AFTER_SECONDS


def serve(liveness: LoopLiveness, host: str, port: int) -> int:
    """Answer ``GET /livez`` in a separate thread; return the port. Raises `OSError` if the port is
    taken."""

    class Probe(BaseHTTPRequestHandler):
        timeout = PROBE_SECONDS

        def do_GET(self) -> None:
            if self.path != "/livez":
                self.send_error(HTTPStatus.NOT_FOUND)
                return
            body = b"live\n" if liveness.is_live else b"the main loop hangs\n"
            status = HTTPStatus.OK if liveness.is_live else HTTPStatus.SERVICE_UNAVAILABLE
            self.send_response(status)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """Log nothing: probes come every few seconds."""

    server = ThreadingHTTPServer((host, port), Probe)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return int(server.server_address[1])


def notify_systemd(state: str, environment: Mapping[str, str] = os.environ) -> None:
    """Send systemd a state such as ``READY=1``, as sd_notify(3) describes; without systemd do
    nothing."""
    address = environment.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as connection:
        try:
            connection.connect("\0" + address[1:] if address[0] == "@" else address)
            connection.sendall(state.encode())
        except OSError as error:
            log.warning("systemd was not notified: %s", error)


def watchdog_seconds(environment: Mapping[str, str] = os.environ) -> float | None:
    """Return how often systemd expects this process to report; None if it doesn't."""
    if environment.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    microseconds = environment.get("WATCHDOG_USEC", "")
    return int(microseconds) / 1_000_000 if microseconds.isdecimal() else None


def keep_reporting(
    liveness: LoopLiveness, stop: threading.Event, environment: Mapping[str, str] = os.environ
) -> None:
    """Report to systemd's watchdog while the main loop runs, until ``stop`` is set."""
    interval = watchdog_seconds(environment)
    while interval is not None:
        if liveness.is_live:
            notify_systemd("WATCHDOG=1", environment)
        if stop.wait(interval / 3):
            return
