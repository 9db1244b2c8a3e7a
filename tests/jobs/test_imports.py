"""Uploads through the real worker process: checked, applied, and killed in the middle."""

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import func, select

from app.database import Database
from app.enums import ImportState
from app.models import Contact, ImportChange, ImportRow
from app.services.imports import steps
from tests import matrix
from tests.fixtures.uploads import Desk, counts, make_desk, number, table
from tests.fixtures.worker import Worker, until

KILLS = 12 if matrix.is_full() else 4
ROWS = 6000


@pytest.fixture
def desk(fresh_database: Database, tmp_path: Path) -> Desk:
    with fresh_database.transaction() as session:
        return make_desk(session, fresh_database, tmp_path)


@pytest.fixture
def worker(make_worker: Callable[..., Worker], tmp_path: Path) -> Worker:
    """Not started yet; it finds the files that were uploaded."""
    return make_worker(PORTAL_INSTANCE_DIR=str(tmp_path))


def in_state(desk: Desk, upload_id: object, *states: ImportState) -> Callable[[], bool]:
    return lambda: desk.now(upload_id).state in states  # type: ignore[arg-type]  # an id


def test_a_worker_checks_and_applies_what_was_uploaded(desk: Desk, worker: Worker) -> None:
    worker.start()
    upload_id = desk.upload(f"Name,Phone\nAnn Lee,{number(1)}\nBob,12\n")
    until(in_state(desk, upload_id, ImportState.CHECKED))
    assert counts(desk.now(upload_id)) == (1, 0, 0, 0, 1)
    desk.start(upload_id)
    until(in_state(desk, upload_id, ImportState.DONE))
    assert counts(desk.now(upload_id)) == (1, 0, 0, 0, 1)
    assert desk.people() == [("Ann", number(1), None)]


def test_a_file_that_is_none_fails_with_its_sentence(desk: Desk, worker: Worker) -> None:
    worker.start()
    upload_id = desk.upload(b"\x7fELF\x00\x00")
    until(in_state(desk, upload_id, ImportState.FAILED))
    assert desk.now(upload_id).failure == (
        "This is a program, not a contact file. Save the list as CSV or XLSX."
    )


def test_a_killed_worker_goes_on_exactly_where_it_was(desk: Desk, worker: Worker) -> None:
    """Killed in the middle of checking and of applying; the campaign then equals the file."""
    seed = random.randrange(1_000_000)  # noqa: S311 - chance, not secrecy
    chance = random.Random(seed)  # noqa: S311 - chance, not secrecy
    desk.send({"phone": number(0), "firstName": "Old"})
    rows = [(f"P{index}", number(index)) for index in range(ROWS)]
    bad = [("Bad", "12")] * 5
    upload_id = desk.upload(table("First name,Phone", [*rows, *bad, (f"Q{ROWS}", number(7))]))
    worker.start()
    until(in_state(desk, upload_id, ImportState.READING, ImportState.CHECKED))
    time.sleep(chance.uniform(0, 0.6))
    worker.kill()
    worker.start()
    until(in_state(desk, upload_id, ImportState.CHECKED), limit=60)
    expected = (ROWS - 1, 2, 0, 0, 5)
    assert counts(desk.now(upload_id)) == expected, f"seed {seed}"

    desk.start(upload_id)
    for _ in range(KILLS):
        applied = desk.now(upload_id).rows_applied
        until(lambda so_far=applied: desk.now(upload_id).rows_applied > so_far, limit=60)  # type: ignore[misc]  # bound now
        time.sleep(chance.uniform(0, 0.1))
        if desk.now(upload_id).state is ImportState.DONE:
            break
        worker.kill()
        worker.start(wait=chance.random() < 0.5)
    until(in_state(desk, upload_id, ImportState.DONE), limit=60)
    assert worker.stop() == 0

    assert counts(desk.now(upload_id)) == expected, f"seed {seed}"
    people = {**{phone: name for name, phone in rows}, number(7): f"Q{ROWS}"}
    assert sorted(desk.people(), key=repr) == sorted(
        ((name, phone, None) for phone, name in people.items()), key=repr
    ), f"seed {seed}"
    with desk.database.transaction(read_only=True) as session:
        kept = [
            session.scalar(select(func.count()).select_from(model))
            for model in (Contact, ImportRow, ImportChange)
        ]
    assert kept == [ROWS, ROWS + 6, ROWS + 1], f"seed {seed}"


def test_a_person_stops_an_upload_between_two_batches(desk: Desk, worker: Worker) -> None:
    upload_id = desk.upload(
        table("First name,Phone", [(f"P{index}", number(index)) for index in range(ROWS)])
    )
    worker.start()
    until(in_state(desk, upload_id, ImportState.CHECKED), limit=60)
    desk.start(upload_id)
    until(lambda: desk.now(upload_id).rows_applied > 0)
    with desk.database.transaction() as session:
        steps.cancel(session, desk.caller, upload_id)
    until(in_state(desk, upload_id, ImportState.CANCELLED))
    stopped = desk.now(upload_id)
    assert 0 < stopped.rows_applied < ROWS
    assert len(desk.people()) == stopped.rows_applied == stopped.created
