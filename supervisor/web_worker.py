"""The web server's worker: gunicorn's threaded one with better error responses and shutdown, whose
threads don't wait for slow clients."""

import errno
import json
import secrets
import select
import selectors
import signal
import socket
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from types import FrameType
from typing import Any

from gunicorn import util
from gunicorn.http import errors
from gunicorn.http.body import ChunkedReader
from gunicorn.workers.gthread import ThreadWorker

from supervisor.incomplete_requests import (
    HELD_BYTES,
    ArrivingRequest,
    PacedSocket,
    limit_waits,
    stalled,
)
from supervisor.processes import end_with_parent

RECEIVED_BYTES = 256 * 1024
STOP_SECONDS = 2.0
"""Seconds that a stopping worker waits for incomplete requests."""
SCARCE_SECONDS = 0.05
"""Seconds between two attempts to accept a connection without a file handle for it."""
LINGER_SECONDS = 2.0
"""Seconds for a client to close its side, so that it reads the end of the response."""
LINGER_BYTES = 256 * 1024
UNREAD_BYTES = 64 * 1024
"""Maximum unread bytes of a body that are skipped; beyond them gunicorn ends the connection."""

WAITED = "X-PORTAL-WAITED"
"""The header with the seconds that a request waited for a thread: for the application, never from a
client."""

REFUSALS: dict[type[Exception], tuple[int, str, str]] = {
    errors.LimitRequestLine: (414, "uri_too_long", "The address of the request is too long."),
    errors.LimitRequestHeaders: (
        431,
        "headers_too_large",
        "The headers of the request are too large.",
    ),
    errors.ExpectationFailed: (417, "expectation_failed", "This Expect header can't be met."),
    MemoryError: (503, "unavailable", "The service is not available. Try again shortly."),
}
MALFORMED = (400, "malformed_request", "The request is not valid HTTP.")
"""The response to other requests that gunicorn's parser refuses before the application sees
them."""


class _BodyReader:
    """A request body whose faults are errors of a broken connection, which an application answers
    with 400; gunicorn's own exceptions would become a 500."""

    def __init__(self, reader: Any):
        self._reader = reader

    def read(self, size: int) -> bytes:
        try:
            data: bytes = self._reader.read(size)
        except errors.ParseException as error:
            message = "the request body is not sound"
            raise ConnectionError(message) from error
        return data

    @property
    def is_much_left(self) -> bool:
        """Return whether too much of the body is unread to continue with the next request. For a
        body in chunks this is known only at its end."""
        if isinstance(self._reader, ChunkedReader):
            return self._reader.parser is not None
        return int(getattr(self._reader, "length", 0)) >= UNREAD_BYTES


def _has_waiting(listener: socket.socket) -> bool:
    waiting = select.poll()
    waiting.register(listener, select.POLLIN)
    return bool(waiting.poll(0))


class PortalWorker(ThreadWorker):
    """Answers its own errors in the JSON shape of all errors, and ends after the requests in flight
    when its parent is killed.

    Its main loop buffers requests and passes complete ones to threads
    (`supervisor.incomplete_requests`).
    """

    announce_seconds = 0
    """Seconds during which a stopping worker still serves, so that load balancers notice."""
    announce: Callable[[], None] = staticmethod(lambda: None)
    """Called when a worker is stopped."""

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self.poller: Any  # gunicorn creates it when the process starts
        self._arriving: dict[Any, ArrivingRequest] = {}
        self._gathered: dict[Any, ArrivingRequest] = {}
        self._held_bytes = 0
        self._large_waiting: deque[Any] = deque()
        self._large_in_threads: set[Any] = set()
        self._most_large = max(1, self.cfg.threads // 2)
        self._lingering: dict[Any, tuple[float, int]] = {}
        self._looked_at = 0.0
        self._is_scarce = False
        self._stops_at: float | None = None
        self._leaves_at: float | None = None

    def init_process(self) -> None:
        end_with_parent(signal.SIGTERM, self.ppid)
        super().init_process()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Answer /readyz with 503 at once, and stop after the delay of `announce_seconds`."""
        # Without the parent, no process kills a stuck request.
        signal.alarm(self.cfg.graceful_timeout + 2)
        if self._leaves_at is None:
            self._leaves_at = time.monotonic() + self.announce_seconds
            self.announce()
        if not self.announce_seconds:
            super().handle_exit(sig, frame)

    def set_accept_enabled(self, enabled: bool) -> None:
        """In addition, a stopping worker accepts the waiting connections and closes its sockets:
        until its end the system would accept others, only to reset them then."""
        super().set_accept_enabled(enabled)
        if enabled or self.alive:
            return
        for listener in self.sockets:
            while listener.fileno() >= 0 and _has_waiting(listener):
                self.accept(listener)
                if self._is_scarce:
                    break
            listener.close()

    def accept(self, listener: Any) -> None:
        """Accept a connection; if there are too many, close the one that has been sending its
        request for longest. Without a file handle it waits in the system's queue."""
        if self.nr_conns >= self.worker_connections - 1 and self._arriving:
            self._close_arriving(next(iter(self._arriving)))
        try:
            super().accept(listener)
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
                raise
            if not self._is_scarce:
                self.log.warning("Connections wait: %s", error.strerror)
            self._is_scarce = True
            time.sleep(SCARCE_SECONDS)
        else:
            self._is_scarce = False

    def enqueue_req(self, conn: Any) -> None:
        """Buffer a request; gunicorn calls this when one may have started."""
        conn.sock.setblocking(False)
        if not conn.initialized:
            limit_waits(conn.sock)
        # Bytes sent after the previous request are already in the parser.
        self._arriving[conn] = ArrivingRequest(
            conn.parser.unreader.take_buffered() if conn.parser else b""
        )
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._receive, conn))
        self._receive(conn, conn.sock)

    def _receive(self, conn: Any, _socket: Any) -> None:
        """Read what has arrived; start the request if it is complete."""
        arrival = self._arriving[conn]
        is_over = False
        try:
            while not self._is_complete(arrival):
                piece = conn.sock.recv(RECEIVED_BYTES)
                if not piece:
                    is_over = True
                    break
                arrival.data += piece
                self._held_bytes += len(piece)
        except BlockingIOError:
            return
        except OSError:
            is_over = True
            arrival.data.clear()
        if is_over and not arrival.data:
            self._close_arriving(conn)
            return
        self._forget_arriving(conn)
        self._gathered[conn] = arrival
        arrival.gathered_at = time.monotonic()
        conn.data_ready = True
        if arrival.is_large and len(self._large_in_threads) >= self._most_large:
            self._large_waiting.append(conn)
            return
        self._begin(conn, arrival)

    def _is_complete(self, arrival: ArrivingRequest) -> bool:
        return arrival.is_complete(HELD_BYTES - self._held_bytes)

    def _begin(self, conn: Any, arrival: ArrivingRequest) -> None:
        if arrival.is_large:
            self._large_in_threads.add(conn)
        super().enqueue_req(conn)

    def finish_request(self, conn: Any, fs: Any) -> None:
        """Take the connection back from its thread, and start a large request that waits."""
        self._large_in_threads.discard(conn)
        if fs.cancelled() or fs.exception() or not fs.result():
            self._linger(conn)
        else:
            super().finish_request(conn, fs)
        while self._large_waiting and len(self._large_in_threads) < self._most_large:
            waiting = self._large_waiting.popleft()
            self._begin(waiting, self._gathered[waiting])

    def murder_pending(self) -> None:
        """Close connections whose request has not arrived in time; gunicorn calls this in each turn
        of its loop."""
        super().murder_pending()
        now = time.monotonic()
        if self.alive and self._leaves_at is not None and now >= self._leaves_at:
            super().handle_exit(signal.SIGTERM, None)
        if now - self._looked_at < 1:
            return
        self._looked_at = now
        if not self.alive and self._stops_at is None:
            self._stops_at = now + STOP_SECONDS
        is_stopped = self._stops_at is not None and now >= self._stops_at
        for conn in [c for c, a in self._arriving.items() if is_stopped or a.is_late(now)]:
            self._close_arriving(conn)
        for conn in [c for c, (until, _) in self._lingering.items() if now >= until]:
            self._close_lingering(conn)

    def _linger(self, conn: Any) -> None:
        """Close a connection without truncating the response. gunicorn's own method waits for the
        client, and blocks all others."""
        try:
            conn.sock.setblocking(False)
            conn.sock.shutdown(socket.SHUT_WR)
            self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._drain, conn))
        except (OSError, ValueError):  # the client has gone, or a thread has closed the socket
            self.nr_conns -= 1
            conn.close()
            return
        self._lingering[conn] = time.monotonic() + LINGER_SECONDS, 0

    def _drain(self, conn: Any, _socket: Any) -> None:
        until, drained = self._lingering[conn]
        try:
            piece = conn.sock.recv(LINGER_BYTES)
        except OSError:
            piece = b""
        self._lingering[conn] = until, drained + len(piece)
        if not piece or drained + len(piece) >= LINGER_BYTES:
            self._close_lingering(conn)

    def _close_lingering(self, conn: Any) -> None:
        del self._lingering[conn]
        self.poller.unregister(conn.sock)
        self.nr_conns -= 1
        conn.close()

    def _forget_arriving(self, conn: Any) -> None:
        self._held_bytes -= len(self._arriving.pop(conn).data)
        self.poller.unregister(conn.sock)

    def _close_arriving(self, conn: Any) -> None:
        self._forget_arriving(conn)
        self.nr_conns -= 1
        conn.close()

    def handle(self, conn: Any) -> Any:
        """Pass the buffered bytes to the parser, in a thread."""
        arrival = self._gathered.pop(conn)
        conn.waited = time.monotonic() - arrival.gathered_at
        conn.init()
        conn.sock.setblocking(True)
        conn.parser.unreader.unread(bytes(arrival.data))
        conn.parser.unreader.sock = PacedSocket(conn.sock)
        return super().handle(conn)

    def handle_request(self, req: Any, conn: Any) -> bool:
        body = _BodyReader(req.body.reader)
        req.body.reader = body
        asked_to_close = req.should_close
        # Read for the header Connection when the response starts, which announces the end to the
        # client.
        req.should_close = lambda: asked_to_close() or body.is_much_left
        headers = [(name, value) for name, value in req.headers if name != WAITED]
        req.headers = [*headers, (WAITED, f"{conn.waited:.3f}")]
        if self._leaves_at is not None:  # so that none is in use when this worker leaves
            req.force_close()
        try:
            keep_alive: bool = super().handle_request(req, conn)
        except BlockingIOError as error:  # the client doesn't read the answer
            raise stalled() from error
        return keep_alive

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        faulty_answer = isinstance(
            exc, errors.InvalidResponseHeader | errors.InvalidResponseHeaderName
        )
        if isinstance(exc.__context__, MemoryError):
            exc = exc.__context__
        if faulty_answer or not isinstance(exc, errors.ParseException | MemoryError):
            super().handle_error(req, client, addr, exc)
            return
        status, code, message = REFUSALS.get(type(exc), MALFORMED)
        self.log.warning("Refused a request from %s: %s", (addr or ("?",))[0], exc)
        request_id = f"req_{secrets.token_urlsafe(16)}"
        details = {"code": code, "errors": [], "requestId": request_id}
        body = json.dumps({"statusCode": status, "message": message, "details": details})
        retry = "Retry-After: 5\r\n" if status == 503 else ""
        head = (
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nConnection: close\r\n{retry}"
            f"X-Request-Id: {request_id}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        try:
            util.write_nonblock(client, (head + body).encode())
        except OSError:
            self.log.debug("The client had gone.")
