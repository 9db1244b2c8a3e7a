"""All web processes count one rate together on PostgreSQL."""

import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from app.database import Database
from app.errors import RateLimited
from app.http.rate_limit import TokenBuckets
from app.http.shared_rates import SharedRates

ROOT = Path(__file__).resolve().parents[2]
RATE, BURST, SECONDS = 200, 200, 3.0
ASKING = """
import sys, time
from app.database import Database, make_engine
from app.errors import RateLimited
from app.http.rate_limit import TokenBuckets
from app.http.shared_rates import SharedRates

buckets = TokenBuckets({rate}, {burst})
database = Database(make_engine(sys.argv[1]))
database.engine.connect().close()
SharedRates(database, {{"api": buckets}}).start()
print("ready", flush=True)
end, taken = float(sys.stdin.readline()) + {seconds}, 0
while time.time() < end:
    try:
        buckets.take("key")
        taken += 1
    except RateLimited:
        pass
    time.sleep(0.002)
print(taken, flush=True)
"""

pytestmark = pytest.mark.parametrize("backend", ["postgresql"], indirect=True)


def test_four_processes_together_accept_as_much_as_one(fresh_database: Database) -> None:
    url = fresh_database.engine.url.render_as_string(hide_password=False)
    program = ASKING.format(rate=RATE, burst=BURST, seconds=SECONDS)
    command = [sys.executable, "-c", program, url]
    with ExitStack() as running:
        asking = [
            running.enter_context(
                subprocess.Popen(
                    command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
                )
            )
            for _ in range(4)
        ]
        for each in asking:
            assert each.stdout is not None
            assert each.stdout.readline() == "ready\n"
        begin = time.time() + 0.1
        taken = sum(int(each.communicate(f"{begin}\n")[0]) for each in asking)
    assert taken == pytest.approx(BURST + RATE * SECONDS, rel=0.05)


def pair(database: Database, rate: float, burst: int) -> list[tuple[TokenBuckets, SharedRates]]:
    """Two processes' buckets, at a standstill, that report when a test says so."""
    made = []
    for _ in range(2):
        buckets = TokenBuckets(rate, burst, clock=lambda: 0.0)
        buckets.share(lambda _urgent: None)
        made.append((buckets, SharedRates(database, {"api": buckets})))
    return made


def accepted(buckets: TokenBuckets, key: str, times: int) -> int:
    taken = 0
    for _ in range(times):
        try:
            buckets.take(key)
        except RateLimited:
            break
        taken += 1
    return taken


def test_requests_that_one_process_accepted_count_in_the_other(fresh_database: Database) -> None:
    (first, reports), (second, also_reports) = pair(fresh_database, 0.001, 100)
    assert accepted(first, "key", 60) == 60
    reports.report()
    assert accepted(second, "key", 10) == 10
    also_reports.report()
    assert accepted(second, "key", 100) == 30
    assert accepted(second, "another key", 100) == 100


def test_requests_accepted_beyond_the_rate_are_subtracted_later(fresh_database: Database) -> None:
    (first, reports), (second, also_reports) = pair(fresh_database, 1.0, 10)
    assert (accepted(first, "key", 20), accepted(second, "key", 20)) == (10, 10)
    reports.report()
    also_reports.report()
    with pytest.raises(RateLimited) as refused:
        second.take("key")
    assert refused.value.retry_after == 11


def test_occasional_requests_cost_no_statement(fresh_database: Database) -> None:
    now = [0.0]
    buckets = TokenBuckets(100, 200, clock=lambda: now[0])
    buckets.share(lambda _urgent: None)
    for _ in range(100):
        buckets.take("key")
        now[0] += 1.0
    assert buckets.to_report() == {}
