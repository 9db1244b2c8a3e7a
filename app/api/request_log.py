"""Log answered requests without delaying them.

A request appends to a buffer of its process; a thread writes the buffer to the database some
seconds later, many lines at once. A killed process loses its buffer, and if the database doesn't
accept the lines, the oldest are dropped: this log is informative, not evidence.
"""

import logging
import re
import threading
import time
from collections import Counter, deque
from datetime import timedelta
from functools import cache
from uuid import UUID

from flask import Response, g, request
from sqlalchemy.exc import SQLAlchemyError

from app.database import Database
from app.http.request_id import request_id
from app.models import new_id, utcnow
from app.policy.caller import Caller
from app.schemas.base import wire_name
from app.services.credentials import request_log
from app.services.credentials.request_log import KINDS, MAX_ROWS, AnsweredRequest

EVERY_SECONDS = 2.0
MAX_WAITING = 5000

log = logging.getLogger(__name__)


class RequestLog:
    """The buffer of one process and, once started, the thread that empties it."""

    def __init__(self, database: Database):
        self._database = database
        self._waiting: deque[AnsweredRequest] = deque(maxlen=MAX_WAITING)
        self._since_trimmed: Counter[UUID] = Counter()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def record(self, caller: Caller, response: Response, began: float) -> None:
        """Add the current request; ``began`` comes from the clock `time.perf_counter`."""
        if caller.kind not in KINDS or caller.subject_id is None:
            return
        took = time.perf_counter() - began
        self._waiting.append(
            AnsweredRequest(
                id=new_id(),
                credential_id=caller.subject_id,
                partner_id=caller.partner_id,
                organization_id=caller.organization_id,
                at=utcnow() - timedelta(seconds=took),
                method=request.method,
                route=template_of(request.url_rule.rule) if request.url_rule else "",
                operation=wire_name((request.endpoint or "").rpartition(".")[2]),
                status=response.status_code,
                code=g.get("error_code"),
                duration_ms=round(took * 1000, 2),
                request_id=request_id(),
            )
        )

    def flush(self) -> None:
        """Write the buffer in a separate transaction; on failure drop it with a warning."""
        entries = [self._waiting.popleft() for _ in range(len(self._waiting))]
        if not entries:
            return
        self._since_trimmed.update(each["credential_id"] for each in entries)
        full_ids = [key for key, count in self._since_trimmed.items() if count >= MAX_ROWS]
        try:
            with self._database.transaction() as session:
                request_log.write(session, entries)
                request_log.trim(session, full_ids)
        except SQLAlchemyError:
            log.warning("%d requests could not be noted.", len(entries), exc_info=True)
        for key in full_ids:
            del self._since_trimmed[key]

    def start(self) -> None:
        """Start the thread of this process that writes the buffer."""
        self._thread = threading.Thread(target=self._run, name="request log", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread after it has written the buffer."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _run(self) -> None:
        while not self._stop.wait(EVERY_SECONDS):
            self.flush()
        self.flush()


@cache
def template_of(rule: str) -> str:
    """``/api/partners/<partner_id>/users`` -> ``/api/partners/{partnerId}/users``."""
    return re.sub(r"<(?:[^<:]+:)?([^>]+)>", lambda match: f"{{{wire_name(match[1])}}}", rule)
