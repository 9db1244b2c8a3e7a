"""The installation's mark in the instance folder, by which a restored backup is noticed."""

import json
import logging
import os
import time
from pathlib import Path

from sqlalchemy.orm import Session

from app.services.pauses import restore_detection
from app.services.pauses.restore_detection import Mark

FILE = "dialler.mark"
SIZE = 200
LATE_SECONDS = 3.0
"""A file that changed this long after the time written in it was copied."""

log = logging.getLogger(__name__)


class MarkFile:
    """Stores the database's mark outside of it. Call `advance` in the transaction of each
    heartbeat and `keep` after its commit, so that a crash never leaves the file ahead."""

    def __init__(self, folder: Path, *, lives_with_database: bool):
        """``lives_with_database``: the two are backed up and moved together, as on SQLite."""
        self._path = folder / FILE
        self._lives_with_database = lives_with_database
        self._is_first = True
        self._kept = self._next = self._read()

    def advance(self, session: Session) -> None:
        self._next = restore_detection.advance(session, self._kept, is_moved=self._is_moved)

    def keep(self) -> None:
        """Write what was committed. A folder that can't be written to is logged once."""
        if self._next is None:
            return
        self._kept = self._next
        try:
            self._write(self._kept)
        except OSError as error:
            if self._is_first:
                log.warning("a restored backup will not be noticed: %s", error)
        self._is_first = False

    def _is_moved(self) -> bool:
        """Whether the file was copied: its inode or the time of its last change differs from what
        was written. Checked at the start only, because chown changes that time too."""
        if not (self._lives_with_database and self._is_first):
            return False
        try:
            found, stored = self._path.stat(), json.loads(self._path.read_text())
            late = found.st_ctime - stored["written"]
            return bool(found.st_ino != stored["inode"] or late > LATE_SECONDS)
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def _read(self) -> Mark | None:
        try:
            stored = json.loads(self._path.read_text())
            return Mark(str(stored["lineage"]), int(stored["generation"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _write(self, mark: Mark) -> None:
        # In place and always of one length: another file would have another inode.
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            stored = {
                "lineage": mark.lineage,
                "generation": mark.generation,
                "inode": os.fstat(descriptor).st_ino,
                "written": time.time(),
            }
            os.pwrite(descriptor, json.dumps(stored).ljust(SIZE).encode(), 0)
        finally:
            os.close(descriptor)
