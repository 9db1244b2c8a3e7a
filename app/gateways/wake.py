"""Wake the workers for committed work, so that they need not poll often.

PostgreSQL uses NOTIFY in the transaction itself; SQLite uses a line in a named pipe next to the
database, written after the commit. A wake-up may be lost: every reader also polls, every few
seconds.
"""

import errno
import logging
import os
import select
import stat
import threading
from collections import defaultdict
from contextlib import closing, suppress
from pathlib import Path
from time import monotonic
from typing import Any

import psycopg
from sqlalchemy import URL, event, func, make_url
from sqlalchemy import select as select_from
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session, SessionTransaction

from app.database import make_engine

CHANNEL = "portal_wake"
CHECK_SECONDS = 30.0
"""Seconds after which a silent connection to PostgreSQL is checked."""
RETRY_SECONDS = 2.0
MAX_BYTES = 65536
MIN_GAP_SECONDS = 0.1
"""Minimum seconds between two runs of one reader, so that many wake-ups don't become many
queries."""

_SENT = "wake-ups sent in this transaction"
_PENDING = "wake-ups to send after the commit"

log = logging.getLogger(__name__)


class WakeEvent:
    """A reader's event: a wake-up, or the time of its next poll. The first wait ends at once,
    because there may be earlier work."""

    def __init__(self) -> None:
        self._woken = threading.Event()
        self._woken.set()
        self._answered = 0.0

    def wake(self) -> None:
        self._woken.set()

    def wait(self, seconds: float, stop: threading.Event) -> bool:
        """Return after a wake-up, or after this many seconds; True once stopped."""
        if self._woken.wait(seconds):
            stop.wait(self._answered + MIN_GAP_SECONDS - monotonic())
        self._woken.clear()
        self._answered = monotonic()
        return stop.is_set()


class WakeEvents:
    """The events of one process, by topic."""

    def __init__(self) -> None:
        self._events: defaultdict[str, WakeEvent] = defaultdict(WakeEvent)

    def of(self, topic: str) -> WakeEvent:
        return self._events[topic]

    def wake_all(self) -> None:
        for wake_event in list(self._events.values()):
            wake_event.wake()


def wake(session: Session, topic: str) -> None:
    """Wake the workers for ``topic`` once the transaction is committed."""
    engine = session.get_bind().engine
    if engine.dialect.name == "sqlite":
        if _PENDING not in session.info:
            session.info[_PENDING] = set()
            event.listen(session, "after_transaction_end", _wake_through_pipe)
        session.info[_PENDING].add(topic)
        return
    session.connection()
    # A savepoint that is rolled back drops its notifications, so each counts by itself.
    notification = session.get_nested_transaction() or session.get_transaction(), topic
    sent_notifications = session.info.setdefault(_SENT, set())
    if notification not in sent_notifications:
        session.execute(select_from(func.pg_notify(CHANNEL, topic)))
        sent_notifications.add(notification)


def _wake_through_pipe(session: Session, transaction: SessionTransaction) -> None:
    """Also called after a rollback: a needless wake-up does no harm."""
    if transaction.parent is not None or not session.info[_PENDING]:
        return
    lines = "".join(f"{topic}\n" for topic in sorted(session.info[_PENDING]))
    session.info[_PENDING].clear()
    try:
        pipe = _open_pipe(session.get_bind().engine.url, os.O_WRONLY)
    except OSError:  # no worker listens
        return
    with suppress(OSError):  # a full pipe wakes the worker anyway
        os.write(pipe, lines.encode())
    os.close(pipe)


def _pipe_of(url: URL) -> Path:
    return Path(f"{url.database}-wake")


def _open_pipe(url: URL, direction: int) -> int:
    path = _pipe_of(url)
    pipe = os.open(path, direction | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISFIFO(os.fstat(pipe).st_mode):
        os.close(pipe)
        raise OSError(errno.EINVAL, "not a named pipe", str(path))
    return pipe


def keep_listening(address: str, wake_events: WakeEvents, stop: threading.Event) -> None:
    """Set the events at commits of any process, until ``stop`` is set."""
    url = make_url(address)
    listen = _listen_on_pipe if url.get_backend_name() == "sqlite" else _listen
    while not stop.is_set():
        try:
            listen(url, wake_events, stop)
        except (OSError, psycopg.Error, SQLAlchemyError) as error:
            log.warning("no wake-ups (%s): work is found by polling", type(error).__name__)
            stop.wait(RETRY_SECONDS)


def _listen_on_pipe(url: URL, wake_events: WakeEvents, stop: threading.Event) -> None:
    with suppress(FileExistsError):
        os.mkfifo(_pipe_of(url), 0o666)
    # Open for both directions: a pipe without a writer would be readable all the time.
    pipe = _open_pipe(url, os.O_RDWR)
    try:
        while not stop.is_set():
            if not select.select([pipe], [], [], CHECK_SECONDS)[0]:
                if not os.path.samestat(os.fstat(pipe), _pipe_of(url).stat()):
                    return  # the file was replaced
                continue
            lines = os.read(pipe, MAX_BYTES)
            if len(lines) == MAX_BYTES:
                wake_events.wake_all()
            for topic in set(lines.decode(errors="replace").splitlines()):
                wake_events.of(topic).wake()
    finally:
        os.close(pipe)


def _listen(url: URL, wake_events: WakeEvents, stop: threading.Event) -> None:
    engine = make_engine(url, pool_size=1)
    pooled = engine.raw_connection()
    connection: Any = pooled.driver_connection
    pooled.detach()
    with closing(connection):
        connection.autocommit = True
        connection.execute(f"LISTEN {CHANNEL}")  # nosemgrep: sql-made-of-values - a constant
        wake_events.wake_all()  # earlier notifications are lost
        while not stop.is_set():
            # The driver's own wait for notifications would poll ten times a second.
            if not select.select([connection.fileno()], [], [], CHECK_SECONDS)[0]:
                connection.execute("SELECT 1")
            for notification in connection.notifies(timeout=0):
                wake_events.of(notification.payload).wake()
