"""The faults, one after another, each with a pause in which the hosts recover.

Run them in the main thread: the database server ends with the thread that started it.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from app.backups import new_key
from scripts.soak.hosts import Host
from tests.fixtures.own_server import OwnServer

FULL_SECONDS = 15


class Faults:
    """``done`` counts each kind; ``left_out`` says why others are not injected."""

    def __init__(self, server: OwnServer, hosts: list[Host], folder: Path):
        self._server, self._hosts, self._folder = server, hosts, folder
        self._chance = random.Random()
        self.done: Counter[str] = Counter()
        self.left_out = {
            "restore over the running database": "its copy would lose the simulated carrier's "
            "ledger, which judges",
            "wrong clocks": "`python -m benchmarks.outages` has them",
        }
        self._kinds: dict[str, Callable[[], None]] = {
            "worker killed": self._kill_worker,
            "web process killed": self._kill_web,
            "host killed": self._kill_host,
            "database outage": self._outage,
            "deployment, host after host": self._deploy,
            "backup, restored into a database of its own": self._backup,
        }
        if all(host.disk for host in hosts):
            self._kinds["full disk"] = self._full_disk
        else:
            self.left_out["full disk"] = "only root can mount one"

    def run_until(self, end: float, pause: float) -> None:
        """Inject all kinds in random order, repeatedly."""
        while True:
            for kind in self._chance.sample(sorted(self._kinds), len(self._kinds)):
                time.sleep(max(0.0, min(pause, end - time.monotonic())))
                if time.monotonic() >= end:
                    return
                print(f"{time.strftime('%H:%M:%S')} {kind}", file=sys.stderr, flush=True)
                self._kinds[kind]()
                self.done[kind] += 1

    def _host(self) -> Host:
        return self._chance.choice(self._hosts)

    def _kill_worker(self) -> None:
        self._kill(self._host(), "worker")

    def _kill_web(self) -> None:
        self._kill(self._host(), "web")

    def _kill(self, host: Host, kind: str) -> None:
        pids = host.stack.processes()[kind]
        if pids:
            with suppress(ProcessLookupError):
                os.kill(pids[-1], signal.SIGKILL)

    def _kill_host(self) -> None:
        host = self._host()
        host.stack.supervisor.kill()
        host.restart()

    def _outage(self) -> None:
        with self._server.away(self._chance.uniform(5, 20)):
            pass

    def _deploy(self) -> None:
        for host in self._hosts:
            host.restart()

    def _full_disk(self) -> None:
        disk = self._host().disk
        if disk is not None:
            disk.fill_to_the_last_byte()
            time.sleep(FULL_SECONDS)
            disk.make_room()

    def _backup(self) -> None:
        settings = {
            "DATABASE_URL": self._server.url,
            "PORTAL_ENV": "test",
            "PORTAL_INSTANCE_DIR": str(self._folder / "backup"),
            "PORTAL_BACKUP_PUBLIC_KEY": new_key()[1],
        }
        command = ["backup", "create", "--to", str(self._folder / "backups")]
        result = subprocess.run(
            [sys.executable, "-m", "flask", "--app", "wsgi", *command],
            env={**os.environ, **settings},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if "Its database was restored." not in result.stdout:
            self.done["backup that failed"] += 1
            print(result.stdout, result.stderr, file=sys.stderr, flush=True)
