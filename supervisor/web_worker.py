"""The web server's worker: gunicorn's threaded one with better error answers and shutdown."""

import json
import signal
from http import HTTPStatus
from types import FrameType
from typing import Any
from uuid import uuid4

from gunicorn import util
from gunicorn.http import errors
from gunicorn.workers.gthread import ThreadWorker

from supervisor.processes import end_with_parent

REFUSALS: dict[type[Exception], tuple[int, str, str]] = {
    errors.LimitRequestLine: (414, "uri_too_long", "The address of the request is too long."),
    errors.LimitRequestHeaders: (
        431,
        "headers_too_large",
        "The headers of the request are too large.",
    ),
    errors.ExpectationFailed: (417, "expectation_failed", "This Expect header can't be met."),
}
MALFORMED = (400, "malformed_request", "The request is not valid HTTP.")
"""For every other request that gunicorn's parser refuses before the application sees it."""


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


class PortalWorker(ThreadWorker):
    """Answers its own errors in the JSON shape of all errors, and ends after the requests in flight
    when its parent is killed."""

    def init_process(self) -> None:
        end_with_parent(signal.SIGTERM, self.ppid)
        super().init_process()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # Without the parent, no process kills a stuck request.
        signal.alarm(self.cfg.graceful_timeout + 2)
        super().handle_exit(sig, frame)

    def handle_request(self, req: Any, conn: Any) -> bool:
        req.body.reader = _BodyReader(req.body.reader)
        keep_alive: bool = super().handle_request(req, conn)
        return keep_alive

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        faulty_answer = isinstance(
            exc, errors.InvalidResponseHeader | errors.InvalidResponseHeaderName
        )
        if faulty_answer or not isinstance(exc, errors.ParseException):
            super().handle_error(req, client, addr, exc)
            return
        status, code, message = REFUSALS.get(type(exc), MALFORMED)
        self.log.warning("Refused a request from %s: %s", (addr or ("?",))[0], exc)
        details = {"code": code, "errors": [], "requestId": str(uuid4())}
        body = json.dumps({"statusCode": status, "message": message, "details": details})
        head = (
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nConnection: close\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        try:
            util.write_nonblock(client, (head + body).encode())
        except OSError:
            self.log.debug("The client had gone.")
