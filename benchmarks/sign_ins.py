"""The effect of sign-ins on the pages of everyone else, with the limit of password checks and
without.

``python -m benchmarks.sign_ins [PER_SECOND] [--rounds N]``. Two products with the demo's data run
on each database: one as shipped, one without the limit. In turns, each gets requests for one page
repeatedly, alone and during this many sign-ins a second (8 by default) with the right password. For
each: the median and the 95th percentile of the page, as ratios to the page alone, and the statuses
of the sign-ins. Goal: the median of the shipped product at most 2 x.
"""

import argparse
import os
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from threading import Event
from typing import NamedTuple
from urllib.parse import urlencode

from tests.fixtures.databases import BACKENDS, Databases
from tests.fixtures.stack import Stack, Stacks

PER_SECOND, ROUNDS, SECONDS = 8, 5, 6.0
GOAL = 2.0
PAGE = "/organizations"
PAUSE_SECONDS = 0.02
WITHOUT_LIMIT = {"PORTAL_PASSWORD_CHECKS": "1000", "PORTAL_PASSWORD_CHECKS_WAITING": "1000"}
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}


class Answer(NamedTuple):
    status: int
    cookie: str
    text: str


class Site:
    """One running product, for browsers."""

    def __init__(self, stack: Stack):
        self.port = stack.port
        partner = stack.demo["partners"][0]
        self.users = [(user["email"], user["password"]) for user in partner["users"]]
        response = self.ask("GET", "/sign-in")
        match = re.search(r'name="csrf_token" value="([^"]+)"', response.text)
        assert match
        self.visitor, self.token = response.cookie, match[1]
        self.cookie = self.sign_in(0).cookie

    def ask(self, method: str, path: str, cookie: str = "", body: str | None = None) -> Answer:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, FORM | {"Cookie": cookie})
            response = connection.getresponse()
            text = response.read().decode()
            cookies = [
                each.partition(";")[0] for each in response.headers.get_all("Set-Cookie", [])
            ]
            return Answer(response.status, "; ".join(cookies), text)
        finally:
            connection.close()

    def sign_in(self, number: int) -> Answer:
        email, password = self.users[number % len(self.users)]
        form = {"csrf_token": self.token, "email": email, "password": password}
        return self.ask("POST", "/sign-in", self.visitor, urlencode(form))

    def pages(self) -> list[float]:
        """Return the milliseconds of the page, requested repeatedly for `SECONDS`."""
        milliseconds, end = [], time.monotonic() + SECONDS
        while time.monotonic() < end:
            began = time.perf_counter()
            answer = self.ask("GET", PAGE, self.cookie)
            milliseconds.append((time.perf_counter() - began) * 1000)
            assert answer.status == 200, answer.status
            time.sleep(PAUSE_SECONDS)
        return milliseconds

    def pages_beside(self, per_second: int) -> tuple[list[float], Counter[int]]:
        """Return the same during sign-ins, which begin at fixed times; and their statuses."""
        stopped, begun = Event(), list[Future[Answer]]()
        with ThreadPoolExecutor(100) as pool:

            def sign_in_steadily() -> None:
                began = time.monotonic()
                while not stopped.is_set():
                    begun.append(pool.submit(self.sign_in, len(begun)))
                    time.sleep(max(0.0, began + len(begun) / per_second - time.monotonic()))

            sending = pool.submit(sign_in_steadily)
            milliseconds = self.pages()
            stopped.set()
            sending.result()
        return milliseconds, Counter(answer.result().status for answer in begun)


def percentile(milliseconds: Sequence[float], percent: int) -> float:
    return statistics.quantiles(milliseconds, n=100)[percent - 1]


@dataclass
class Measured:
    """The times of pages and the statuses of sign-ins in all rounds."""

    alone: list[float] = field(default_factory=list)
    beside: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    def measure(self, site: Site, per_second: int) -> None:
        self.alone += site.pages()
        milliseconds, statuses = site.pages_beside(per_second)
        self.beside += milliseconds
        self.statuses += statuses

    @property
    def ratio(self) -> float:
        return statistics.median(self.beside) / statistics.median(self.alone)

    def __str__(self) -> str:
        tails = percentile(self.alone, 95), percentile(self.beside, 95)
        return (
            f"page alone {statistics.median(self.alone):6.1f} ms, beside sign-ins "
            f"{statistics.median(self.beside):6.1f} ms, ratio {self.ratio:5.2f}; 95th percentile "
            f"{tails[0]:6.1f} ms, {tails[1]:6.1f} ms, ratio {tails[1] / tails[0]:5.2f}; sign-ins "
            f"{dict(self.statuses)}"
        )


def compare(limited: Site, unlimited: Site, per_second: int, rounds: int) -> Iterator[str]:
    with_limit, without = Measured(), Measured()
    for _ in range(rounds):
        with_limit.measure(limited, per_second)
        without.measure(unlimited, per_second)
    yield f"as shipped:    {with_limit}{'' if with_limit.ratio <= GOAL else '  OVER'}"
    yield f"without limit: {without}"


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.sign_ins")
    parser.add_argument("per_second", nargs="?", type=int, default=PER_SECOND)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        databases = Databases(folder, folder)
        stacks = Stacks(databases, folder, folder)
        for backend in BACKENDS:
            limited = Site(stacks.start(backend))
            unlimited = Site(stacks.start(backend, WITHOUT_LIMIT))
            for line in compare(limited, unlimited, options.per_second, options.rounds):
                print(f"{backend:10} {line}", flush=True)
        stacks.stop()
        databases.close()


if __name__ == "__main__":
    os.environ.setdefault("PORTAL_ENV", "test")
    main(sys.argv[1:])
