"""A full disk: clean refusals at once, nothing half written, and recovery without a restart."""

import json
import os
import signal
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple
from uuid import UUID

import pytest
import requests
from sqlalchemy import func, select, text

from app.database import Database, make_engine
from app.models import Base, Call, CallAttempt, Contact, SimulatedCall
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.small_disk import MB, SmallDisk, small_disk
from tests.fixtures.stack import Stack, Stacks
from tests.fixtures.waiting import wait_for
from tests.matrix import rotating

pytestmark = pytest.mark.alternating

RESERVE = 20 * MB
CONTACTS_A_REQUEST = 400
"""Under 64 kB: they are taken as long as the database has room."""


class Installation(NamedTuple):
    stack: Stack
    disk: SmallDisk
    database: Database

    @property
    def customer(self) -> dict[str, Any]:
        found: dict[str, Any] = self.stack.demo["partners"][0]["organizations"][0]
        return found

    def ready(self) -> tuple[int, str]:
        """Status of /readyz, and what it says about the disk."""
        answer = requests.get(f"{self.stack.base_url}/readyz", timeout=10)
        return answer.status_code, answer.json()["checks"]["disk"]

    def page(self) -> int:
        return requests.get(f"{self.stack.base_url}/sign-in", timeout=10).status_code

    def send(self, path: str, body: dict[str, Any]) -> requests.Response:
        headers = {"x-api-key": self.customer["apiKey"]}
        url = self.stack.base_url + path
        return requests.post(url, json=body, headers=headers, timeout=30)

    def add_contacts(self, batch: int) -> requests.Response:
        """Add contacts that no other ``batch`` has: what is stored already needs no room."""
        first = batch * CONTACTS_A_REQUEST
        numbers = (f"+1202556{n:04d}" for n in range(first, first + CONTACTS_A_REQUEST))
        body = {"contacts": [{"firstName": "Ada", "phone": number} for number in numbers]}
        campaign = self.customer["campaigns"][0]["id"]
        return self.send(f"/api/v1/campaigns/{campaign}/contacts", body)

    def empty_log(self) -> None:
        """Shrink SQLite's log: on a full disk SQLite can still overwrite the pages of its log."""
        with closing(self.database.engine.raw_connection()) as connection:
            cursor = connection.cursor()

            def is_empty() -> bool:
                busy, *_ = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                return not busy

            wait_for(is_empty)

    def call(self) -> requests.Response:
        assistant = next(one for one in self.customer["agents"] if one["phoneReady"])
        body = {
            "agentId": assistant["id"],
            "contact": {"phoneNumber": self.customer["simulator"]["human"]},
            "introMessage": "Hello.",
            "voicemailMessage": "Bye.",
        }
        return self.send("/api/v1/outbound/call", body)

    def count(self, model: type[Base]) -> int:
        with self.database.transaction(read_only=True) as session:
            return session.scalar(select(func.count()).select_from(model)) or 0

    def times_placed(self, calls: list[requests.Response]) -> list[int]:
        """How often the carrier placed each of the calls."""
        with self.database.transaction(read_only=True) as session:
            attempts = [
                session.scalars(select(CallAttempt.id).where(CallAttempt.call_id == id_)).all()
                for id_ in self.ids_of(calls)
            ]
            placed = Counter(session.scalars(select(SimulatedCall.reference)))
        return [sum(placed[str(id_)] for id_ in ids) for ids in attempts]

    @staticmethod
    def ids_of(calls: list[requests.Response]) -> list[UUID]:
        return [UUID(call.json()["callId"]) for call in calls]

    def have_ended(self, calls: list[requests.Response]) -> bool:
        with self.database.transaction(read_only=True) as session:
            return all(session.get_one(Call, id_).status.is_final for id_ in self.ids_of(calls))


backend = runs_on(rotating("database of the full disk", BACKENDS))


@pytest.fixture
def installation(stacks: Stacks, backend: str, tmp_path: Path) -> Iterator[Installation]:
    with small_disk(tmp_path / "disk", megabytes=96) as disk:
        if disk is None:
            pytest.skip("only root can mount a disk")
        settings = {"PORTAL_DISK_RESERVE_BYTES": str(RESERVE)}
        stack = stacks.start_on(disk.folder, backend, settings)
        database = Database(make_engine(stack.database_url, pool_size=1))
        yield Installation(stack, disk, database)
        database.dispose()
        disk.make_room()
        stack.stop()


def large_upload(installation: Installation) -> tuple[int, dict[str, Any], int]:
    """Status and body of the answer to a body of 50 MB, and how much could be sent of it."""
    piece, sent = b" " * 65_536, 0
    head = f"POST /api/v1/campaigns/x/contacts HTTP/1.1\r\nHost: a\r\nContent-Length: {50 * MB}"
    with closing(socket.create_connection(("127.0.0.1", installation.stack.port), 30)) as line:
        line.sendall(f"{head}\r\nContent-Type: application/json\r\n\r\n".encode())
        try:
            while sent < 50 * MB:
                line.sendall(piece)
                sent += len(piece)
        except OSError:
            pass  # the server has answered and closed
        answer = line.recv(65_536)
    first, _, body = answer.partition(b"\r\n\r\n")
    return int(first.split()[1]), json.loads(body), sent


@pytest.mark.alternating
def test_a_full_disk_refuses_writes_and_recovers_when_it_has_room_again(
    installation: Installation, backend: str
) -> None:
    disk = installation.disk
    assert installation.ready() == (200, "ok")
    assert installation.add_contacts(batch=0).status_code == 200
    processes = installation.stack.processes()

    disk.fill(leave=RESERVE // 2)
    assert installation.ready() == (503, "under 20 MB are free in the instance folder")
    status, body, sent = large_upload(installation)
    message = "There is no room for this file now. Try again later."
    assert (status, body["details"]["code"], body["message"]) == (503, "unavailable", message)
    assert sent < 16 * MB, "more was read than the sockets hold"

    calls = [installation.call() for _ in range(5)]
    assert {call.status_code for call in calls} == {200}, "small requests go on within the reserve"
    contacts = installation.count(Contact)
    if backend == "sqlite":
        installation.empty_log()
    disk.fill_to_the_last_byte()
    seconds = []
    for batch in range(1, 6):
        began = time.monotonic()
        answer = installation.add_contacts(batch)
        seconds.append(time.monotonic() - began)
        if backend == "postgresql":
            assert answer.status_code == 200, "its disk is another one"
            continue
        assert (answer.status_code, answer.headers.get("Retry-After")) == (503, "5")
        assert answer.json()["details"]["code"] == "unavailable"
    assert median(seconds) < 1
    assert installation.page() == 200
    added = 5 * CONTACTS_A_REQUEST if backend == "postgresql" else 0
    assert installation.count(Contact) == contacts + added
    time.sleep(6)  # heartbeats of the worker fail meanwhile
    assert installation.stack.processes() == processes
    os.kill(processes["worker"][0], signal.SIGKILL)  # the next one starts on a full disk
    time.sleep(6)

    disk.make_room()
    wait_for(lambda: installation.ready() == (200, "ok"))
    assert installation.stack.processes()["web"] == processes["web"], "nothing had to start again"
    assert installation.add_contacts(batch=6).status_code == 200
    calls.append(installation.call())
    wait_for(lambda: installation.have_ended(calls))
    assert installation.times_placed(calls) == [1] * len(calls)
    if backend == "sqlite":
        with installation.database.transaction(read_only=True) as session:
            assert session.scalar(text("PRAGMA integrity_check")) == "ok"
