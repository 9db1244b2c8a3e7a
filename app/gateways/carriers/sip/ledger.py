"""What happened to each attempt, on disk before it is believed.

A trunk keeps no list that could be asked. So every attempt has a file of its own: one line a fact,
each written and synchronised before what follows from it is done. The file is locked, from the
request on, by the processes that may still dial; the kernel releases the lock when the last holder
has ended. So a file that can be locked tells all that will ever happen, and a line
``abandoned`` in it, or the lack of ``asked``, proves that no call was made nor will be.
"""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any
from uuid import UUID

KEPT_SECONDS = 7 * 24 * 3600.0


class Fact(StrEnum):
    ASKED = "asked"
    ABANDONED = "abandoned"
    """This attempt is never dialled."""
    DELAYED = "put-off"
    """Certainly not placed; may be asked for again."""
    DIALING = "dialling"
    """Written before the INVITE is sent."""
    TAKEN = "taken"
    """The trunk has answered the INVITE in some way."""
    RINGING = "ringing"
    ANSWERED = "answered"
    HEARD = "heard"
    """Who answered."""
    INTRO_SPOKEN = "said-intro"
    VOICEMAIL_SPOKEN = "said-voicemail"
    SILENT = "silent"
    """The INVITE went out and nothing ever came back."""
    ENDED = "ended"


_OVER = frozenset({Fact.ABANDONED, Fact.DELAYED, Fact.SILENT, Fact.ENDED})


@dataclass(frozen=True, slots=True)
class Entry:
    """One fact, its moment, and what more there is to say."""

    fact: Fact
    at: datetime
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """The facts since the attempt was asked for last, oldest first."""

    entries: tuple[Entry, ...] = ()

    def find(self, fact: Fact) -> Entry | None:
        return next((entry for entry in self.entries if entry.fact is fact), None)

    @property
    def last(self) -> Entry | None:
        return self.entries[-1] if self.entries else None

    @property
    def is_over(self) -> bool:
        return self.last is not None and self.last.fact in _OVER

    @property
    def reference(self) -> str | None:
        """The Call-ID, once there is one."""
        taken = self.find(Fact.TAKEN)
        return str(taken.more["reference"]) if taken else None


class Page:
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

    def write(self, fact: Fact, **more: Any) -> None:
        """Returns once the fact survives a power cut."""
        line = {"fact": fact.value, "at": datetime.now(UTC).isoformat(), **more}
        os.write(self.descriptor, json.dumps(line).encode() + b"\n")
        os.fsync(self.descriptor)


class Ledger:
    """The folder of all attempts' files, within it one for each account that has a name."""

    def __init__(self, folder: Path, account: str = ""):
        self._whole = folder
        self._folder = folder / account

    def began_at(self) -> datetime:
        """When the whole folder was begun. Of attempts before that it can't prove anything."""
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

    def stop_mark(self, attempt_id: UUID) -> Path:
        """A file whose existence asks the call's session to hang up."""
        return self._folder / f"{attempt_id}.stop"

    def workshop(self, attempt_id: UUID) -> Path:
        """A folder for what the call needs while it lasts."""
        return self._folder / f"{attempt_id}.line"

    @contextmanager
    def page(self, attempt_id: UUID) -> Iterator[Page]:
        """The attempt's file, made where it is missing; closed, and so unlocked, at the end."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.path(attempt_id)
        is_new = not path.exists()
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            if is_new:
                self._keep_name()
            yield Page(descriptor)
        finally:
            os.close(descriptor)

    def read(self, attempt_id: UUID) -> Record | None:
        """None where nothing was ever written of it. A line that was cut off never happened."""
        try:
            text = self.path(attempt_id).read_text()
        except FileNotFoundError:
            return None
        entries: list[Entry] = []
        for line in text.splitlines():
            try:
                more = json.loads(line)
            except ValueError:
                continue
            entry = Entry(Fact(more.pop("fact")), datetime.fromisoformat(more.pop("at")), more)
            entries = [entry] if entry.fact is Fact.ASKED else [*entries, entry]
        return Record(tuple(entries))

    def forget_old(self) -> None:
        """Removes what belongs to calls of long ago."""
        before = time.time() - KEPT_SECONDS
        for path in self._folder.glob("*.*"):
            if path.stat().st_mtime > before:
                continue
            if path.is_dir():
                for one in path.iterdir():
                    one.unlink(missing_ok=True)
                path.rmdir()
            else:
                path.unlink(missing_ok=True)

    def accounts(self) -> Iterator[UUID]:
        """Those that have a folder of their own here, by their names."""
        for path in self._whole.iterdir():
            with suppress(ValueError):
                yield UUID(path.name)

    def forget_account(self, account_id: UUID) -> None:
        shutil.rmtree(self._whole / str(account_id), ignore_errors=True)

    def _keep_name(self) -> None:
        """Has a new file's name survive a power cut too."""
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
