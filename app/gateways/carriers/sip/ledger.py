"""The ledger of each attempt: every fact is on disk before it takes effect.

A trunk offers no list of calls. So every attempt has its own file with one line per fact, written
and synchronised before the next step. From the request on, the processes that may still dial hold a
lock on the file; the kernel releases it when the last of them ends. So a file without a lock is
complete, and a line ``abandoned`` in it, or no line ``asked``, proves that no call was made or will
be made.

A ledger names no one: numbers in a trunk's words are left out. Only the sounds of a call, in its
work folder, may hold names; they go when its process ends.
"""

import fcntl
import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any
from uuid import UUID

from app.gateways.carriers.base import CarrierEventKind

RETENTION = timedelta(days=7)
_NUMBER = re.compile(r"\+?\d(?:[ ().\-]*\d){6,}")


class AttemptFact(StrEnum):
    ASKED = "asked"
    ABANDONED = "abandoned"
    """This attempt is never placed."""
    DELAYED = "put-off"
    """Certainly not placed; it may be sent again."""
    DIALING = "dialling"
    """Written before the INVITE is sent."""
    TAKEN = "taken"
    """The trunk has answered the INVITE in some way."""
    RINGING = "ringing"
    ANSWERED = "answered"
    HEARD = "heard"
    """Who answered."""
    INTRO_SPOKEN = CarrierEventKind.INTRO_SPOKEN.value
    VOICEMAIL_SPOKEN = CarrierEventKind.VOICEMAIL_SPOKEN.value
    SILENT = "silent"
    """The INVITE was sent and no answer ever came."""
    ENDED = "ended"


_OVER = frozenset(
    {AttemptFact.ABANDONED, AttemptFact.DELAYED, AttemptFact.SILENT, AttemptFact.ENDED}
)


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One fact, its time and details."""

    fact: AttemptFact
    at: datetime
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """The facts since the latest request of the attempt, oldest first."""

    entries: tuple[LedgerEntry, ...] = ()

    def find(self, fact: AttemptFact) -> LedgerEntry | None:
        return next((entry for entry in self.entries if entry.fact is fact), None)

    @property
    def last(self) -> LedgerEntry | None:
        return self.entries[-1] if self.entries else None

    @property
    def last_fact(self) -> AttemptFact | None:
        return self.last.fact if self.last else None

    @property
    def is_over(self) -> bool:
        return self.last_fact in _OVER

    @property
    def reference(self) -> str | None:
        """The Call-ID, once the call has one."""
        taken = self.find(AttemptFact.TAKEN)
        return str(taken.more["reference"]) if taken else None


class AttemptFile:
    """The file of one attempt, opened for writing."""

    def __init__(self, descriptor: int):
        self.descriptor = descriptor

    def lock(self) -> bool:
        """Take the lock; return whether it was free."""
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def write(self, fact: AttemptFact, **more: Any) -> None:
        """Write a fact; return once it survives a power cut."""
        if "words" in more:
            more["words"] = _NUMBER.sub("[number]", more["words"])
        line = {"fact": fact.value, "at": datetime.now(UTC).isoformat(), **more}
        os.write(self.descriptor, json.dumps(line).encode() + b"\n")
        os.fsync(self.descriptor)


class AttemptLedger:
    """The folder of all attempts' files, with a subfolder for each named account."""

    def __init__(self, folder: Path, account: str = ""):
        self._whole = folder
        self._folder = folder / account

    def began_at(self) -> datetime:
        """Return when the folder was created. It proves nothing about attempts before that."""
        path = self._whole / "began"
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError), path.open("x") as first:
            first.write(datetime.now(UTC).isoformat())
        try:
            return datetime.fromisoformat(path.read_text())
        except ValueError:  # cut off before it was written
            path.unlink(missing_ok=True)
            return self.began_at()

    def path(self, attempt_id: UUID) -> Path:
        return self._folder / f"{attempt_id}.ledger"

    def stop_file(self, attempt_id: UUID) -> Path:
        """The file whose existence asks the call's session to hang up."""
        return self._folder / f"{attempt_id}.stop"

    def work_folder(self, attempt_id: UUID) -> Path:
        """A temporary folder for the call's process."""
        return self._folder / f"{attempt_id}.line"

    @contextmanager
    def open_file(self, attempt_id: UUID) -> Iterator[AttemptFile]:
        """The attempt's file, created if it is missing; closed, and so unlocked, at the end."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.path(attempt_id)
        is_new = not path.exists()
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            if is_new:
                self._keep_name()
            yield AttemptFile(descriptor)
        finally:
            os.close(descriptor)

    def read(self, attempt_id: UUID) -> AttemptRecord | None:
        """Return the attempt's record; None if nothing was ever written. An incomplete last line is
        ignored."""
        try:
            text = self.path(attempt_id).read_text()
        except FileNotFoundError:
            return None
        entries: list[LedgerEntry] = []
        for line in text.splitlines():
            try:
                more = json.loads(line)
            except ValueError:
                continue
            entry = LedgerEntry(
                AttemptFact(more.pop("fact")), datetime.fromisoformat(more.pop("at")), more
            )
            entries = [entry] if entry.fact is AttemptFact.ASKED else [*entries, entry]
        return AttemptRecord(tuple(entries))

    def purge(self) -> None:
        """Remove the files of old calls, and the work folders of calls whose process has died,
        those of all accounts on this host."""
        before = time.time() - RETENTION.total_seconds()
        for folder in (self._whole, *(self._whole / str(each) for each in self.accounts())):
            for work_folder in folder.glob("*.line"):
                if not _is_held(work_folder.with_suffix(".ledger")):
                    shutil.rmtree(work_folder, ignore_errors=True)
            for path in (*folder.glob("*.ledger"), *folder.glob("*.stop")):
                with suppress(FileNotFoundError):
                    if path.stat().st_mtime < before:
                        path.unlink()

    def accounts(self) -> Iterator[UUID]:
        """The names of the accounts that have a subfolder here."""
        for path in self._whole.glob("*"):
            with suppress(ValueError):
                yield UUID(path.name)

    def delete_account(self, account_id: UUID) -> None:
        shutil.rmtree(self._whole / str(account_id), ignore_errors=True)

    def _keep_name(self) -> None:
        """Make a new file's name survive a power cut, too."""
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _is_held(path: Path) -> bool:
    """Return whether a process that may still dial holds the lock of a ledger."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        return not AttemptFile(descriptor).lock()
    finally:
        os.close(descriptor)
