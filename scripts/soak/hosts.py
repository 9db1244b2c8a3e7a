"""Two hosts of one installation: each a supervisor with web process and worker, and a small disk
for its instance folder. They share the database and the folder of uploads."""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.fixtures.small_disk import SmallDisk, small_disk
from tests.fixtures.stack import Stack

DISK_MEGABYTES = 64
RESERVE = 20_000_000


class Host:
    """``restarts`` counts the supervisors so far."""

    def __init__(
        self, name: str, url: str, folder: Path, disk: SmallDisk | None, shared: Mapping[str, str]
    ):
        self.name = name
        self.disk = disk
        self.restarts = 0
        self._url, self._folder = url, folder
        self._instance = (disk.folder if disk else folder) / "instance"
        self._instance.mkdir(mode=0o700)
        self._environment = {
            **shared,
            "PORTAL_DISK_RESERVE_BYTES": str(RESERVE),
            "PORTAL_SIMULATOR_PACE": "0.3",
            "PORTAL_ENV": "test",
        }
        self.stack = self._start(None)

    def _start(self, port: int | None) -> Stack:
        output = self._folder / f"output-{self.restarts}.log"
        return Stack(self._url, self._instance, self._environment, output, port)

    def restart(self) -> None:
        """Stop it like a deployment, and start it again on the same port."""
        self.stack.stop()
        self.restarts += 1
        self.stack = self._start(self.stack.port)
        self.stack.wait_until_ready()

    def processes(self) -> dict[str, int]:
        """The running processes by name."""
        pids_by_name = {}
        for kind, pids in self.stack.processes().items():
            for position, pid in enumerate(pids):
                is_parent = kind == "web" and position == 0
                pids_by_name[
                    f"{self.name} {kind}{' parent' if is_parent else ''}{position or ''}"
                ] = pid
        return pids_by_name


@contextmanager
def two_hosts(url: str, folder: Path, secret_key: str) -> Iterator[list[Host]]:
    """Yield both hosts, started and ready."""
    uploads = folder / "uploads"
    uploads.mkdir(mode=0o700)
    shared = {
        "PORTAL_FILES_URL": uploads.as_uri(),
        "PORTAL_SECRET_KEY": secret_key,
        "PORTAL_CALLS_PER_ORGANIZATION": "20",
        "PORTAL_SPENDING_WATCH": "false",
        "PORTAL_EXPORT_ROWS": "500",
        "PORTAL_PAGE_RATE_BURST": "100000",
        "PORTAL_PAGE_RATE_PER_SECOND": "1000",
    }
    os.umask(0o077)
    with ExitStack() as open_disks:
        hosts = []
        try:
            for name in ("a", "b"):
                host_folder = folder / name
                host_folder.mkdir()
                disk = open_disks.enter_context(small_disk(host_folder / "disk", DISK_MEGABYTES))
                hosts.append(Host(name, url, host_folder, disk, shared))
            for host in hosts:
                host.stack.wait_until_ready()
            yield hosts
        finally:
            for host in hosts:
                host.stack.stop()
