"""The mark of the installation in the instance folder, and what is told by it."""

import json
import logging
import os
import time
from pathlib import Path

from sqlalchemy.orm import Session

from app.services.dialler import marks
from app.services.dialler.marks import Mark

FILE = "dialler.mark"
SIZE = 200
LATE_SECONDS = 3.0
"""The moment of writing stands in the file; whoever copies it does so later."""

log = logging.getLogger(__name__)


class MarkKeeper:
    """Keeps the mark of the database outside of it. `advance` belongs into the transaction of
    each heartbeat, `keep` after its commit, so that the file is never ahead by a crash."""

    def __init__(self, folder: Path, *, lives_with_database: bool):
        """``lives_with_database``: the two are backed up and moved together, as on SQLite."""
        self._path = folder / FILE
        self._lives_with_database = lives_with_database
        self._is_first = True
        self._kept = self._next = self._read()

    def advance(self, session: Session) -> None:
        self._next = marks.advance(session, self._kept, is_moved=self._is_moved)

    def keep(self) -> None:
        """Writes what was committed. A folder that can't be written to is logged once."""
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
        """Whether somebody else put the file there: its inode or the time of its last change is
        not what we left. Asked at the start alone: chown changes that time too."""
        if not (self._lives_with_database and self._is_first):
            return False
        try:
            found, told = self._path.stat(), json.loads(self._path.read_text())
            late = found.st_ctime - told["written"]
            return bool(found.st_ino != told["inode"] or late > LATE_SECONDS)
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def _read(self) -> Mark | None:
        try:
            told = json.loads(self._path.read_text())
            return Mark(str(told["lineage"]), int(told["generation"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _write(self, mark: Mark) -> None:
        # In place and always of one length: another file would have another inode.
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            told = {
                "lineage": mark.lineage,
                "generation": mark.generation,
                "inode": os.fstat(descriptor).st_ino,
                "written": time.time(),
            }
            os.pwrite(descriptor, json.dumps(told).ljust(SIZE).encode(), 0)
        finally:
            os.close(descriptor)
