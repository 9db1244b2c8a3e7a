"""Notes outside of the database by which a worker detects a restored backup: the mark in the
instance folder, and on SQLite a label on the database's file."""

import errno
import json
import logging
import os
import time
from pathlib import Path

from sqlalchemy.orm import Session

from app.database import Database
from app.private_files import MARK_FILE
from app.services.pauses import restore_detection
from app.services.pauses.restore_detection import DatabaseMark, OutsideMarks

SIZE = 200
LATE_SECONDS = 3.0
"""Seconds after the time written in a file from which its last change proves a copy."""
LABEL = "user.portal.mark"
"""An extended attribute: it stays with a file that is overwritten, and a plain copy lacks it."""

log = logging.getLogger(__name__)


class MarkFile:
    """Stores the database's mark outside of it. Call `advance` in the transaction of each
    heartbeat and `write_committed` after its commit, so that a crash never leaves what is
    outside ahead."""

    def __init__(self, folder: Path, database: Database):
        self._path = folder / MARK_FILE
        self._label = _FileLabel(str(database.engine.url.database)) if database.is_sqlite else None
        self._is_first = True
        self._kept = self._next = self._read()

    def advance(self, session: Session) -> None:
        label, has_labels = self._label.read() if self._label else (None, False)
        outside = OutsideMarks(self._kept, label, has_labels, self._is_moved, self._is_first)
        self._next = restore_detection.advance(session, outside)
        if self._label and has_labels and label is None:
            # Before the commit: a row that names a label never exists without one.
            self._label.write(DatabaseMark(self._next.lineage, 0))

    def write_committed(self) -> None:
        """Write what was committed. A folder that can't be written to is logged once."""
        if self._next is None:
            return
        self._kept = self._next
        try:
            self._write(self._kept)
            if self._label:
                self._label.write(self._kept)
        except OSError as error:
            if self._is_first:
                log.warning("a restored backup may not be noticed: %s", error)
        self._is_first = False

    def _is_moved(self) -> bool:
        """Return whether the file was copied: its inode or the time of its last change differs from
        what was written. Only on SQLite, where folder and database are moved together."""
        if self._label is None:
            return False
        try:
            file, stored = self._path.stat(), json.loads(self._path.read_text())
            late = file.st_ctime - stored["written"]
            return bool(file.st_ino != stored["inode"] or late > LATE_SECONDS)
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def _read(self) -> DatabaseMark | None:
        try:
            return _parse_mark(self._path.read_text())
        except OSError:
            return None

    def _write(self, mark: DatabaseMark) -> None:
        # In place and always of the same length: another file would have another inode.
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


class _FileLabel:
    """The mark as an extended attribute of SQLite's file."""

    def __init__(self, path: str):
        self._path = path

    def read(self) -> tuple[DatabaseMark | None, bool]:
        """Return the mark, and whether the file system supports one."""
        try:
            return _parse_mark(os.getxattr(self._path, LABEL).decode()), True
        except UnicodeDecodeError:
            return None, True
        except OSError as error:
            return None, error.errno == errno.ENODATA

    def write(self, mark: DatabaseMark) -> None:
        stored = {"lineage": mark.lineage, "generation": mark.generation}
        try:
            os.setxattr(self._path, LABEL, json.dumps(stored).encode())
        except OSError as error:
            if error.errno != errno.ENOTSUP:
                raise


def _parse_mark(text: str) -> DatabaseMark | None:
    try:
        stored = json.loads(text)
        return DatabaseMark(str(stored["lineage"]), int(stored["generation"]))
    except (ValueError, KeyError, TypeError):
        return None
