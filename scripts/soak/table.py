"""The table of results."""

import statistics
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import select

from app.database import Database
from app.enums import CallStatus
from app.models import Call, SimulatedCall
from scripts.soak.hosts import Host
from scripts.soak.load import Figures


class Verdict(NamedTuple):
    """The accepted calls according to the carrier's ledger."""

    accepted: int
    completed: int
    lost: int
    twice: int
    unknown: int
    """Requests that were never answered."""


def judge(database: Database, figures: Figures) -> Verdict:
    """Compare the accepted calls with the ledger of the simulated carrier."""
    with database.transaction(read_only=True) as session:
        rung = Counter(session.scalars(select(SimulatedCall.to_number)))
        states = dict(session.execute(select(Call.phone_number, Call.status)).all())
    completed = sum(states.get(each) is CallStatus.COMPLETED for each in figures.accepted)
    lost = sum(each not in rung for each in figures.accepted)
    twice = sum(times > 1 for times in rung.values())
    unknown = len(figures.unanswered)
    return Verdict(len(figures.accepted), completed, lost, twice, unknown)


def memory(hosts: list[Host]) -> dict[str, tuple[int, float]]:
    """Return the process id and megabytes (PSS) of each process."""
    usage = {}
    for host in hosts:
        for name, pid in host.processes().items():
            with suppress(OSError):
                rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
                usage[name] = pid, int(rollup.partition("\nPss:")[2].split()[0]) / 1024
    return usage


def rows(figures: Figures) -> Iterator[str]:
    yield f"{'requests':<18}{'answered':>9}{'p50':>9}{'p95':>9}{'p99':>9}  errors"
    for kind in sorted(figures.milliseconds.keys() | figures.errors.keys()):
        durations = sorted(figures.milliseconds[kind])
        percentiles = statistics.quantiles(durations, n=100) if len(durations) > 1 else [0.0] * 99
        times = "".join(f"{percentiles[percent]:>6.0f} ms" for percent in (49, 94, 98))
        errors = ", ".join(f"{count} × {e}" for e, count in figures.errors[kind].most_common())
        yield f"{kind:<18}{len(durations):>9}{times}  {errors or '–'}"
