"""Fixtures for every test.

Tests that use ``backend``, directly or through another fixture, run on SQLite and on PostgreSQL.
``database``, ``session``, ``app`` and ``client`` share one transaction that is rolled back;
``fresh_database`` is a database of its own for tests with several connections or processes;
``shared_stack`` is the whole product, started as `make run` starts it.
"""

import os
import sys
from collections.abc import Callable, Iterator
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any

if coverage := getattr(sys.modules.get("slipcover.pytest_plugin"), "_slipcover_instance", None):
    # The option --immediate, with which lines cost a quarter less, reaches no process of xdist.
    coverage.immediate = True

from app import gc_tuning  # isort: skip - imports are quicker after it

import pytest
from flask import Flask
from flask.testing import FlaskClient
from jinja2 import FileSystemBytecodeCache, StrictUndefined, Undefined, UndefinedError
from jinja2.exceptions import TemplateRuntimeError
from jinja2.utils import missing
from sqlalchemy.orm import Session

from app.config import ROOT, Settings
from app.database import Database, make_engine, migration, migration_plan
from tests import matrix
from tests.fixtures.clock import SetClock, set_clock
from tests.fixtures.databases import BACKENDS, Databases
from tests.fixtures.newer_version import copy_of_history
from tests.fixtures.passwords import make_passwords_cheap
from tests.fixtures.phone_numbers import assign_directly_given_numbers
from tests.fixtures.s3_server import S3Server, serve_s3
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.stack import Stack, Stacks

for _name in list(os.environ):
    # What a developer has exported must not change what is tested.
    if (
        _name == "DATABASE_URL"
        or _name.startswith("TWILIO_")
        or (_name.startswith("PORTAL_") and not _name.startswith("PORTAL_TEST_"))
    ):
        del os.environ[_name]

matrix.set_commit()
assign_directly_given_numbers()
make_passwords_cheap()

STACKS = pytest.StashKey[Stacks]()
MARKED = {
    "stacks": "product",
    "chromium": "debian",
    "worker": "worker",
    "make_worker": "worker",
    "shared_twilio_worker": "worker",
}
"""The marker of each test that uses such a fixture."""
LISTED = {
    "slow": frozenset((ROOT / "tests/slow_tests.txt").read_text().split()),
    "alternating": frozenset((ROOT / "tests/long_tests.txt").read_text().split()),
}
"""The marker of each test in a list that scripts/slow_tests.py has written."""
SHARES = {"check": (("alternating",), 3), "test": (("alternating", "slow"), 4)}
"""By command: one in how many runs includes a test with one of these markers."""


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """``sqlite``, then ``postgresql``."""
    return str(request.param)


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all the processes of this run."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def databases(shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Databases]:
    known = Databases(shared_folder, tmp_path_factory.getbasetemp())
    yield known
    known.close()


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    with serve_s3() as server:
        yield server


@pytest.fixture
def database(databases: Databases, backend: str) -> Iterator[Database]:
    """Migrated and empty; nothing that a test writes outlives it.

    All its transactions run inside a single one on one connection. Code that opens connections of
    its own (threads, other processes) needs `fresh_database`.
    """
    with databases.rolled_back(backend) as rolled_back:
        yield rolled_back


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    """A session for arranging and asserting; what it commits, the app of the same test sees."""
    with database._sessions() as opened:
        yield opened


@pytest.fixture
def fresh_database(databases: Databases, backend: str) -> Iterator[Database]:
    """A migrated database of this test alone, with real commits."""
    url = databases.create(backend)
    fresh = Database(make_engine(url))
    yield fresh
    fresh.dispose()
    databases.drop(url)


@pytest.fixture(scope="session")
def next_version_migrations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the migrations of the next version."""
    return copy_of_history(tmp_path_factory.mktemp("newer"))


@pytest.fixture
def as_next_version(
    next_version_migrations: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[pytest.MonkeyPatch]:
    """This process is the next version, until the fixture's patches are undone."""
    for module in (migration, migration_plan):
        monkeypatch.setattr(module, "ROOT", next_version_migrations)
    migration.history.cache_clear()
    yield monkeypatch
    monkeypatch.undo()
    migration.history.cache_clear()


@pytest.fixture
def clock() -> Iterator[SetClock]:
    """An ordinary noon that lasts until a test moves it; for days and times of the present.

    Code that uses another clock than `utcnow`, above all for new ids and signed tokens, gets the
    real time.
    """
    with set_clock() as clock:
        clock.set("2026-10-15T12:00")
        yield clock


@pytest.fixture
def settings(database: Database, tmp_path: Path) -> Settings:
    return settings_for(url_of(database), tmp_path)


@pytest.fixture(scope="session")
def compiled_templates() -> FileSystemBytecodeCache:
    """Templates are compiled once after they have changed."""
    folder = ROOT / ".setup" / "templates"
    folder.mkdir(parents=True, exist_ok=True)
    return FileSystemBytecodeCache(str(folder))


@pytest.fixture(scope="session")
def known_apps() -> dict[str, Flask]:
    """The applications that earlier tests have created, by their settings."""
    return {}


def undefined_name(
    hint: str | None = None,
    obj: Any = missing,
    name: str | None = None,
    exc: type[TemplateRuntimeError] = UndefinedError,
) -> Undefined:
    """Make a template fail that uses a name which its view doesn't pass; attributes may be
    missing."""
    return (StrictUndefined if obj is missing else Undefined)(hint, obj, name, exc)


@pytest.fixture
def make_app(
    database: Database,
    tmp_path: Path,
    compiled_templates: FileSystemBytecodeCache,
    known_apps: dict[str, Flask],
) -> Callable[..., Flask]:
    """The application with settings of the test: ``make_app(max_contacts=3)``.

    Its routes are built once per process, which takes longer than most tests.
    """
    from app.factory import create_app, install_extensions  # noqa: PLC0415 - most tests need no views

    def make(**changes: Any) -> Flask:
        settings = settings_for(url_of(database), tmp_path, **changes)
        asked = repr(sorted(changes.items()))
        if asked not in known_apps:
            made = known_apps[asked] = create_app(settings, database)
            made.testing = True
            made.jinja_env.bytecode_cache = compiled_templates
            made.jinja_env.undefined = undefined_name  # type: ignore[assignment]  # it is only called
        install_extensions(known_apps[asked], settings, database)
        return known_apps[asked]

    return make


@pytest.fixture
def app(make_app: Callable[..., Flask]) -> Flask:
    return make_app()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture(scope="session")
def stacks(
    request: pytest.FixtureRequest,
    databases: Databases,
    shared_folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stacks]:
    running = Stacks(databases, shared_folder, tmp_path_factory.mktemp("stacks"))
    request.session.stash[STACKS] = running
    yield running
    running.stop()


@pytest.fixture
def shared_stack(stacks: Stacks, backend: str) -> Stack:
    """Web and worker under the real supervisor on a free port, with the demo's data.

    Started once for consecutive tests and shared by them: a test that makes lasting changes to a
    partner or user, or kills something, starts its own stack (``stacks.start(backend)``).
    """
    return stacks.shared(backend)


def pytest_pycollect_makemodule(module_path: Path) -> None:
    """Allow Hypothesis more time for the first example: it reads the source of every module.

    Its examples are chosen by the commit as well, except in the full matrix.
    """
    if b"from hypothesis" in module_path.read_bytes():
        from hypothesis import HealthCheck, core, settings  # noqa: PLC0415 - few files need it

        if not matrix.is_full():
            # As Hypothesis' own plugin does for --hypothesis-seed.
            core.global_force_seed = matrix.number("examples")  # type: ignore[assignment]
        settings.register_profile("suite", suppress_health_check=[HealthCheck.too_slow])
        settings.load_profile("suite")


def pytest_collection_finish() -> None:
    """Exclude everything imported from later garbage collections."""
    gc_tuning.resume_collection()


def _backend_of(item: pytest.Item) -> str | None:
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("backend") if callspec else None


def _chosen_by_commit(items: list[pytest.Item], command: str) -> list[pytest.Item]:
    """Keep each test once: of those that run on several databases, on the one that the commit
    chooses. Of tests with the markers in `SHARES`, keep the share that the commit chooses."""
    markers, one_in = SHARES[command]
    several: dict[str, list[pytest.Item]] = {}
    for item in items:
        several.setdefault(item.nodeid.replace(_backend_of(item) or "", "", 1), []).append(item)
    shared = {
        name for name, same in several.items() if any(map(same[0].get_closest_marker, markers))
    }
    left_out = {name for name in shared if matrix.number(f"share {name}") % one_in}
    matrix.chosen[f"{' or '.join(markers)} tests"] = f"{len(shared - left_out)} of {len(shared)}"
    kept = {
        id(same[matrix.number(name) % len(same)])
        for name, same in several.items()
        if name not in left_out
    }
    return [item for item in items if id(item) in kept]


def _spread(items: list[pytest.Item]) -> list[pytest.Item]:
    """Distribute the files whose tests mostly wait for a worker process evenly among the others:
    next to each other they would leave the processor idle."""
    files = [list(tests) for _, tests in groupby(items, key=lambda item: item.path)]
    places: list[tuple[float, list[pytest.Item]]] = []
    for is_waiting in (True, False):
        alike = [tests for tests in files if any(map(_waits, tests)) is is_waiting]
        ends = list(accumulate(map(len, alike)))
        places += [(end / ends[-1], tests) for end, tests in zip(ends, alike, strict=True)]
    places.sort(key=lambda place: place[0])
    return [item for _, tests in places for item in tests]


def _waits(item: pytest.Item) -> bool:
    return item.get_closest_marker("worker") is not None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the databases that aren't part of this run. Start with tests of whole products:
    started last, they would keep all others waiting."""
    wanted = {None, *BACKENDS}
    kept = [item for item in items if _backend_of(item) in wanted]
    command = os.environ.get("PORTAL_TEST_CHOSEN")
    if command and not matrix.is_full():
        kept = _chosen_by_commit(kept, command)
    remaining = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in remaining])
    items[:] = sorted(
        _spread(kept), key=lambda item: "stacks" not in getattr(item, "fixturenames", ())
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark each test by what it starts and how long it takes, and put the tests of one stack into
    one process, so that it is started once per run."""
    names = getattr(item, "fixturenames", ())
    for marker in {marker for fixture, marker in MARKED.items() if fixture in names}:
        item.add_marker(marker)
    for marker, listed in LISTED.items():
        if item.nodeid.partition("[")[0] in listed:
            item.add_marker(marker)
    if "stacks" in names and not item.get_closest_marker("xdist_group"):
        whose = "shared_stack" if "shared_stack" in names else item.path.name
        item.add_marker(pytest.mark.xdist_group(f"{whose} {_backend_of(item)}"))


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Stop the shared product if the next test doesn't need it: even idle it uses the processor."""
    if "shared_stack" not in getattr(nextitem, "fixturenames", ()) and STACKS in item.session.stash:
        item.session.stash[STACKS].stop_shared()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send this process's rotating parts to the one that prints them."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["rotating"] = matrix.chosen


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    matrix.chosen.update(getattr(node, "workeroutput", {}).get("rotating", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    parts = ", ".join(f"{axis}: {part}" for axis, part in sorted(matrix.chosen.items()))
    if parts:
        commit = os.environ[matrix.COMMIT]
        terminalreporter.write_line(f"Rotating parts, chosen by commit {commit}: {parts}")
