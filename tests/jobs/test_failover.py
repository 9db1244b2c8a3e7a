"""The primary dies while calls are in flight and its standby takes over: none is lost, none rings
twice. The carrier's ledger judges."""

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from flask.testing import FlaskCliRunner
from sqlalchemy.exc import DBAPIError

from app.config import ROOT
from app.database import Database, make_engine
from app.factory import create_app
from app.services import pauses
from tests import matrix
from tests.fixtures.faulty_carrier import CarrierBehaviour, FaultyCarrier
from tests.fixtures.recoverable_server import OWNER, OwnServer, own_server
from tests.fixtures.settings import SECRET_KEY, settings_for
from tests.fixtures.twilio_worker import WAITS, dial
from tests.fixtures.worker import Worker, create_calling_organization, outcome, wait_until

pytestmark = [pytest.mark.alternating, pytest.mark.crash, pytest.mark.worker]

FAILOVERS = 10 if matrix.is_full() else 1
CALLS = 12
DEAD_AFTER = "8"
"""Seconds; a busy machine needs some before a worker trusts its own heartbeats."""
RECOVERED = "the database was recovered or its standby took over; recent calls may be missing"


@pytest.fixture
def primary() -> Iterator[OwnServer]:
    with own_server() as server:
        server.ask(f"CREATE DATABASE portal OWNER {OWNER}")
        yield server


def address_of(*servers: OwnServer) -> str:
    """As an operator writes it."""
    hosts = ",".join(f"127.0.0.1:{server.port}" for server in servers)
    return f"postgresql://{OWNER}@{hosts}/portal?target_session_attrs=read-write&connect_timeout=3"


def migrate(url: str) -> None:
    """By the command itself, which reads the address from its environment."""
    command = [sys.executable, "-m", "flask", "--app", "wsgi", "migrate"]
    environment = {**os.environ, "DATABASE_URL": url, "PORTAL_ENV": "test"}
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def commands(url: str, database: Database, folder: Path, carrier: FaultyCarrier) -> FlaskCliRunner:
    settings = settings_for(url, folder, carrier="twilio", **carrier.settings)
    return create_app(settings, database).test_cli_runner()


def start_again_while_it_ends(worker: Worker, database: Database) -> None:
    """As a supervisor does, until it reports to the new primary and has paused calls."""

    def has_paused() -> bool:
        if not worker.is_running:
            worker.start(wait=False)
        try:
            with database.transaction(read_only=True) as session:
                return [pause.reason for pause in pauses.listing(session)] == [RECOVERED]
        except DBAPIError:
            return False

    wait_until(has_paused)


@pytest.mark.parametrize("_failover", range(FAILOVERS))
def test_calls_in_flight_survive_the_death_of_the_primary(
    primary: OwnServer, carrier: FaultyCarrier, tmp_path: Path, _failover: int
) -> None:
    seed = random.randrange(1_000_000)
    chance = random.Random(seed)
    standby = primary.standby()
    url = address_of(primary, standby)
    database = Database(make_engine(url))
    migrate(url)
    run = commands(url, database, tmp_path, carrier)
    calling_organization = create_calling_organization(database)
    waits = {"PORTAL_WORKER_DEAD_AFTER_SECONDS": DEAD_AFTER}
    waits |= {
        f"PORTAL_CARRIER_{name.upper()}_SECONDS": reported for name, reported in WAITS.items()
    }
    settings = {"PORTAL_CARRIER": "twilio", "PORTAL_SECRET_KEY": SECRET_KEY, **carrier.settings}
    worker = Worker(database, PORTAL_INSTANCE_DIR=str(tmp_path), **settings, **waits)
    try:
        worker.start()
        accepted: dict[str, UUID] = {}
        dies_after = chance.randrange(CALLS // 2, CALLS)
        for place in range(CALLS):
            number = f"+1212555{1000 + place}"
            carrier.behaviours[number] = CarrierBehaviour()
            accepted[number] = dial(database, calling_organization, number)
            time.sleep(chance.uniform(0, 0.1))
            if place == dies_after:
                break
        time.sleep(chance.uniform(0, 0.5))
        primary.kill()
        standby.promote()
        start_again_while_it_ends(worker, database)
        reconciled = run.invoke(args=["calls", "reconcile"])
        assert reconciled.exit_code == 0, reconciled.output
        ended = Counter(outcome(database, call_id, 180.0) for call_id in accepted.values())
        rung = Counter(len(carrier.calls_to(number)) for number in accepted)
        assert rung == {1: len(accepted)}, f"seed {seed}"
        assert ended == {("completed", "completed", "human"): len(accepted)}, f"seed {seed}"
        checks = run.invoke(args=["doctor", "--json"]).output
        assert f"No connection to 127.0.0.1:{primary.port}" in checks
    finally:
        worker.close()
        database.dispose()
