"""The cost of the most frequent pages: CPU time and statements.

``python -m benchmarks.page_cpu [--rounds N] [--profile FILE]``. A partner with 1,000 organizations,
contacts, calls and changes; each page is requested by its administrator as by a browser, in turns.
For each page: the CPU time of the process, as a median and relative to the floor (``/healthz``, so
that machines can be compared), and the statements. Goals: the mix, weighted by how often each page
is opened, takes at most 18 ms; six statements besides those of lists. ``--profile`` writes where
the time goes, for ``python -m pstats``.
"""

from app import gc_tuning  # isort: skip - as `wsgi` does, before all others

import argparse
import cProfile
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.pages import AS_A_BROWSER, FEW, Portal, counted, portal_of
from tests.fixtures.databases import BACKENDS, Databases

FLOOR = "/healthz"
MIX = {
    "/": 10,
    "/organizations": 10,
    "/organizations/{organization_id}": 8,
    "/campaigns": 8,
    "/campaigns/{campaign_id}": 8,
    "/calls": 10,
    "/calls/{call_id}": 6,
    "/assistants": 4,
    "/users": 4,
    "/usage": 6,
    "/report": 4,
    "/notifications/bell": 12,
    "/account": 2,
    "/branding": 2,
    "/audit": 2,
    "/organizations/{organization_id}/edit": 2,
    "/organizations/new": 2,
}
"""How often each page is opened, of 100."""


def cpu_of(portal: Portal, path: str) -> float:
    """Return the milliseconds of this process for one page."""
    began = time.process_time()
    answer = portal.client.get(path, headers=AS_A_BROWSER)
    spent = time.process_time() - began
    assert answer.status_code == 200, (path, answer.status_code)
    return spent * 1000


def measure(backend: str, portal: Portal, rounds: int, profile: cProfile.Profile | None) -> None:
    paths = {name: name.format(**portal.ids) for name in MIX}
    for path in (FLOOR, *paths.values()):
        cpu_of(portal, path)
    spent: dict[str, list[float]] = {name: [] for name in (FLOOR, *paths)}
    for _ in range(rounds):
        spent[FLOOR].append(cpu_of(portal, FLOOR))
        for name, path in paths.items():
            if profile is not None:
                profile.enable()
            spent[name].append(cpu_of(portal, path))
            if profile is not None:
                profile.disable()
    floor = statistics.median(spent[FLOOR])
    total = 0.0
    for name, path in paths.items():
        median = statistics.median(spent[name])
        total += median * MIX[name]
        with counted(portal.database) as statements:
            cpu_of(portal, path)
        print(
            f"{backend:10} {name:40} {median:6.1f} ms  {median / floor:5.1f} x floor"
            f"  {len(statements):3} statements",
            flush=True,
        )
    mix = total / sum(MIX.values())
    print(f"{backend:10} mix {mix:.1f} ms, {mix / floor:.1f} x floor ({floor:.2f} ms)", flush=True)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.page_cpu")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--profile", type=Path)
    options = parser.parse_args(arguments)
    profile = cProfile.Profile() if options.profile else None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        databases = Databases(folder, folder)
        for backend in BACKENDS:
            portal = portal_of(databases.create(backend), folder, FEW)
            gc_tuning.resume_collection()
            measure(backend, portal, options.rounds, profile)
            portal.database.dispose()
        databases.close()
    if profile is not None:
        profile.dump_stats(options.profile)


if __name__ == "__main__":
    os.environ.setdefault("PORTAL_ENV", "test")
    main(sys.argv[1:])
