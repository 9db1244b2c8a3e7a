"""Two hosts under mixed load and faults, as long as you like.

``python -m scripts.soak [MINUTES]`` (60 by default). Pages, reads, bulk upserts, calls, uploads,
exports and webhooks run on two hosts that share a PostgreSQL server of their own, while workers,
web processes and hosts are killed, the database ends, a disk is full, a backup is made and
restored elsewhere, and each host is deployed again. At the end one table: requests with their
errors and times, calls accepted, lost and placed twice by the ledger of the simulated carrier,
webhooks, memory of each process. Exit code 1 if a call was lost or placed twice.
"""

import os
import secrets
import sys
import tempfile
import time
from pathlib import Path

from app.config import Settings
from app.database import Database, make_engine
from scripts.soak.faults import Faults
from scripts.soak.hosts import two_hosts
from scripts.soak.load import Figures, Load
from scripts.soak.table import judge, memory, rows
from scripts.soak.world import build
from tests.fixtures.own_server import OwnServer
from tests.fixtures.phone_numbers import assign_directly_given_numbers
from tests.fixtures.receiver import Receiver
from tests.fixtures.worker import unfinished_calls

ROOT = Path(__file__).resolve().parents[2]
WARM_UP_SECONDS = 20
PAUSE_SECONDS = 15.0
"""Seconds between two faults."""
END_SECONDS = 240
"""Seconds for the accepted calls to end after the load."""


def soak(minutes: float, server: OwnServer, folder: Path, receiver: Receiver) -> bool:
    """Print the table; return whether no call was lost or placed twice."""
    key = secrets.token_urlsafe(48)
    database = Database(make_engine(server.url))
    settings = Settings(env="test", secret_key=key, webhook_allow_private=True)
    world = build(database, settings, receiver.url)
    figures = Figures()
    with two_hosts(server.url, folder, key) as hosts:
        faults = Faults(server, hosts, folder)
        load = Load(world, [host.stack.port for host in hosts], figures)
        time.sleep(WARM_UP_SECONDS)
        before = memory(hosts)
        faults.run_until(time.monotonic() + 60 * minutes, PAUSE_SECONDS)
        load.stop()
        deadline = time.monotonic() + END_SECONDS
        while unfinished_calls(database) and time.monotonic() < deadline:
            time.sleep(1)
        after = memory(hosts)
        time.sleep(10)  # for the last webhooks
    verdict = judge(database, figures)
    database.dispose()
    print(f"\n{minutes:g} minutes on two hosts")
    print("\n".join(rows(figures)))
    print(
        f"calls             {verdict.accepted} accepted, {verdict.completed} completed, "
        f"{verdict.lost} lost, {verdict.twice} placed twice; "
        f"{verdict.unknown} requests never answered"
    )
    events = [each.id for each in receiver.received]
    print(f"webhooks          {len(events)} received, {len(events) - len(set(events))} repeated")
    for name in sorted(before.keys() | after.keys()):
        (old_pid, old), (new_pid, new) = before.get(name, (0, 0.0)), after.get(name, (0, 0.0))
        note = "" if old_pid == new_pid else ", another process"
        print(f"memory {name:<11}{old:>6.0f} MB at begin {new:>6.0f} MB at end{note}")
    for kind, count in sorted(faults.done.items()):
        print(f"fault             {count} × {kind}")
    for kind, reason in faults.left_out.items():
        print(f"left out          {kind}: {reason}")
    return not verdict.lost and not verdict.twice


def main(arguments: list[str]) -> int:
    os.chdir(ROOT)
    assign_directly_given_numbers()
    minutes = float(arguments[0]) if arguments else 60.0
    with tempfile.TemporaryDirectory() as folder, Receiver().open() as receiver:
        server = OwnServer()
        try:
            return 0 if soak(minutes, server, Path(folder), receiver) else 1
        finally:
            server.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
