"""The effect of one partner that uses all it can on another, on a served portal.

``python -m benchmarks.loud_neighbour [--only sqlite|postgresql]`` starts web and worker, takes the
time of a quiet partner's pages, and then, while a loud partner tests 24 trunks that never answer,
uploads six pictures of 40 megapixels and five contact files of 8 MB with bad rows only, and clients
without an account send bodies of 250 MB, takes the time of the same pages again. Everyone has
signed in before: checking a password takes memory of its own. It prints side by side the median and
95th percentile of a page, the peak memory of web and worker, and the growth of the disk compared
with the uploads.

Goals: pages at most twice as slow, 100 MB more memory, 5 bytes on the disk for each uploaded.
"""

import argparse
import io
import os
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Self

from PIL import Image
from sqlalchemy import func, select

from app.config import Settings
from app.database import Database, make_engine
from app.enums import ImportStatus
from app.models import ContactImport
from benchmarks.bad_files import MEGABYTE, write_bad_file
from benchmarks.neighbour.partners import Browser, Partner, two_partners
from benchmarks.neighbour.watching import MemoryWatch, disk_bytes
from tests.fixtures.databases import BACKENDS, Databases
from tests.fixtures.stack import QUICK, Stack

FILES, FILE_MEGABYTES = 5, 8
PICTURES, PICTURE_SIDES = 6, (8000, 5000)
STRANGERS, BODY_BYTES = 4, 250 * 1024 * 1024
OPEN_FORMS = ("/sign-in", "/forgot-password", "/api/v1/contacts", "/oauth2/token", "/absent")
PAGES = ("/", "/organizations", "/campaigns", "/uploads", "/calls", "/users")
QUIET_SECONDS = 15
SLOWER, MORE_MEGABYTES, DISK_RATIO = 2.0, 100, 5.0


@contextmanager
def silent_trunk() -> Iterator[str]:
    """Yield the address of a trunk that never answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trunk:
        trunk.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{trunk.getsockname()[1]}"


def picture() -> bytes:
    """Return a small file of a large picture."""
    buffer = io.BytesIO()
    Image.new("P", PICTURE_SIDES).save(buffer, "PNG", compress_level=9)
    return buffer.getvalue()


def look(browser: Browser, is_over: Callable[[], bool]) -> list[float]:
    """Return the milliseconds of the pages, one after the other, until ``is_over``."""
    milliseconds: list[float] = []
    while not is_over():
        for page in PAGES:
            milliseconds.append(1000 * browser.get(page))
            time.sleep(0.05)
    return milliseconds


def send_large_bodies(port: int, ended: threading.Event) -> None:
    """Send body after body to forms that need no account, each until it is refused."""
    piece, count = b"a" * 65536, 0
    while not ended.is_set():
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        count += 1
        with suppress(OSError, HTTPException):
            connection.putrequest("POST", OPEN_FORMS[count % len(OPEN_FORMS)])
            connection.putheader("Content-Type", "multipart/form-data; boundary=x")
            connection.putheader("Content-Length", str(BODY_BYTES))
            connection.endheaders()
            for _ in range(BODY_BYTES // len(piece)):
                connection.send(piece)
            connection.getresponse().read()
        connection.close()
        time.sleep(0.2)


class Neighbour:
    """The loud partner at work, in separate threads; it signs in when this is created."""

    def __init__(self, stack: Stack, partner: Partner, files: list[Path]):
        self._stack, self._partner, self._files = stack, partner, files
        self._browsers = [Browser(stack.base_url, partner) for _ in range(3)]
        self._ended = threading.Event()
        self.uploaded = 0
        self.refused: list[int] = []

    def __enter__(self) -> Self:
        works = (self._test_trunks, self._send_pictures, self._send_files)
        pairs = zip(works, self._browsers, strict=True)
        self._threads = [threading.Thread(target=work, args=(browser,)) for work, browser in pairs]
        of_strangers = (self._stack.port, self._ended)
        self._threads += [
            threading.Thread(target=send_large_bodies, args=of_strangers) for _ in range(STRANGERS)
        ]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _test_trunks(self, browser: Browser) -> None:
        while not self._ended.is_set():
            for account_id in self._partner.account_ids:
                browser.send(f"/carriers/accounts/{account_id}/test", page="/carriers/accounts")
            self._ended.wait(10)

    def _send_pictures(self, browser: Browser) -> None:
        data = picture()
        for _ in range(PICTURES):
            files = {"picture": ("logo.png", data)}
            answer = browser.send("/branding/images/logo", page="/branding", files=files)
            self.refused.append(answer.status_code)
            self.uploaded += len(data)

    def _send_files(self, browser: Browser) -> None:
        page = f"/campaigns/{self._partner.campaign_id}/upload"
        for path in self._files:
            files = {"file": (path.name, path.read_bytes())}
            answer = browser.send(page, data={"action": "upsert"}, files=files)
            assert answer.status_code == 200, answer.status_code
            self.uploaded += path.stat().st_size


def all_checked(database: Database) -> bool:
    with database.transaction(read_only=True) as session:
        query = select(func.count()).where(ContactImport.status == ImportStatus.CHECKED)
        return session.scalar(query) == FILES


def measure(databases: Databases, backend: str, folder: Path, files: list[Path]) -> None:
    url, instance = databases.create(backend), folder / backend
    instance.mkdir()
    database = Database(make_engine(url))
    with silent_trunk() as trunk:
        keys = Settings(env="test", instance_dir=instance).secret_keys
        quiet, loud = two_partners(database, keys, trunk)
        stack = Stack(url, instance, {**QUICK, "PORTAL_ENV": "test"})
        try:
            stack.wait_until_ready()
            browser = Browser(stack.base_url, quiet)
            neighbour = Neighbour(stack, loud, files)
            until = time.monotonic() + 3
            look(browser, lambda: time.monotonic() > until)  # warms up the caches
            until = time.monotonic() + QUIET_SECONDS
            with MemoryWatch(stack) as at_rest:
                alone = look(browser, lambda: time.monotonic() > until)
            disk = disk_bytes(database, instance)
            began = time.monotonic()
            with MemoryWatch(stack) as in_noise, neighbour:
                beside = look(browser, lambda: all_checked(database))
            seconds = time.monotonic() - began
            grown = disk_bytes(database, instance) - disk
        finally:
            stack.stop()
            database.dispose()
            databases.drop(url)
    slower = statistics.median(beside) / statistics.median(alone)
    late = _late(beside) / _late(alone)
    growth = in_noise.peak - at_rest.peak
    uploaded, ratio = neighbour.uploaded / MEGABYTE, grown / neighbour.uploaded

    def say(label: str, pair: Iterable[float], unit: str, note: str = "") -> None:
        before, after = (f"{value:.0f} {unit}" for value in pair)
        print(f"{backend:11}{label:16}{before:>8} alone {after:>8} beside   {note}", flush=True)

    medians = statistics.median(alone), statistics.median(beside)
    say("page, median", medians, "ms", f"ratio {slower:.2f}, goal {SLOWER}")
    say("page, 95 of 100", (_late(alone), _late(beside)), "ms", f"ratio {late:.2f}")
    for label in at_rest.peaks:
        say(f"memory, {label}", (at_rest.peaks[label], in_noise.peaks[label]), "MB")
    goal = f"growth {growth:.0f} MB, goal {MORE_MEGABYTES}"
    say("memory", (at_rest.peak, in_noise.peak), "MB", goal)
    print(
        f"{backend:11}disk {grown / MEGABYTE:.1f} MB for {uploaded:.1f} MB uploaded, "
        f"ratio {ratio:.2f}, goal {DISK_RATIO}; {len(beside):,} pages in {seconds:.0f} s; "
        f"pictures answered {sorted(set(neighbour.refused))}",
        flush=True,
    )


def _late(milliseconds: list[float]) -> float:
    return statistics.quantiles(milliseconds, n=20)[-1]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=BACKENDS)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = []
        for number in range(FILES):
            files.append(folder / f"bad{number}.csv")
            write_bad_file(files[-1], "usual", FILE_MEGABYTES)
        databases = Databases(folder, folder)
        for backend in [options.only] if options.only else BACKENDS:
            measure(databases, backend, folder, files)
        databases.close()


if __name__ == "__main__":
    os.chdir(Path(__file__).resolve().parent.parent)
    main(sys.argv[1:])
