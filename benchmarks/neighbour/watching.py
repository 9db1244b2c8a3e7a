"""The resources of a served portal: memory of its processes, and disk."""

import threading
from contextlib import suppress
from pathlib import Path
from typing import Self

from sqlalchemy import text

from app.database import Database
from tests.fixtures.stack import Stack


class MemoryWatch:
    """The peak memory of web and worker together and of each, in megabytes; shared pages count
    once."""

    def __init__(self, stack: Stack):
        self._stack = stack
        self._ended = threading.Event()
        self.peak = 0.0
        self.peaks: dict[str, float] = {}

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(0.25):
            pids = self._stack.processes()
            used = {kind: sum(map(_megabytes, of_kind)) for kind, of_kind in pids.items()}
            self.peak = max(self.peak, sum(used.values()))
            for kind, megabytes in used.items():
                self.peaks[kind] = max(self.peaks.get(kind, 0.0), megabytes)


def _megabytes(pid: int) -> float:
    with suppress(OSError):  # it has ended
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0


def disk_bytes(database: Database, instance: Path) -> int:
    """Return the bytes of the database with its log, and of the instance folder."""
    files = {path for path in instance.rglob("*") if path.is_file()}
    if database.is_sqlite:
        path = Path(str(database.engine.url.database))
        files |= set(path.parent.glob(f"{path.name}*"))
        size = 0
    else:
        with database.transaction(read_only=True) as session:
            size = session.scalar(text("SELECT pg_database_size(current_database())")) or 0
    for path in files:
        with suppress(FileNotFoundError):
            size += path.stat().st_size
    return size
