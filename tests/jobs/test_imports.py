"""Uploads through the real worker process: checked, applied, and killed in the middle."""

import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import func, select

from app.enums import ImportStatus
from app.models import ImportChange, ImportRow
from app.services.imports import steps, undo
from tests import matrix
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.uploads import Importer, counts, number, table
from tests.fixtures.worker import Worker, wait_until

KILLS = 50 if matrix.is_full() else 4
ROWS = 6000
UNDO_KILLS = 6 if matrix.is_full() else 2


backend = runs_on(matrix.rotating("database of imports", BACKENDS))


@pytest.fixture
def worker(make_worker: Callable[..., Worker], tmp_path: Path) -> Worker:
    """Not started yet; it finds the files that were uploaded."""
    return make_worker(PORTAL_INSTANCE_DIR=str(tmp_path))


def in_state(importer: Importer, upload_id: UUID, *states: ImportStatus) -> Callable[[], bool]:
    return lambda: importer.now(upload_id).status in states


def test_a_worker_checks_and_applies_an_upload(importer: Importer, worker: Worker) -> None:
    worker.start()
    upload_id = importer.upload(f"Name,Phone\nAnn Lee,{number(1)}\nBob,12\n")
    wait_until(in_state(importer, upload_id, ImportStatus.CHECKED))
    assert counts(importer.now(upload_id)) == (1, 0, 0, 0, 1)
    importer.start(upload_id)
    wait_until(in_state(importer, upload_id, ImportStatus.DONE))
    assert counts(importer.now(upload_id)) == (1, 0, 0, 0, 1)
    assert importer.people() == [("Ann", number(1), None)]


def test_a_file_that_is_no_contact_file_fails_with_a_reason(
    importer: Importer, worker: Worker
) -> None:
    worker.start()
    upload_id = importer.upload(b"\x7fELF\x00\x00")
    wait_until(in_state(importer, upload_id, ImportStatus.FAILED))
    assert importer.now(upload_id).failure == (
        "This is a program, not a contact file. Save the list as CSV or XLSX."
    )


@pytest.mark.crash
def test_a_worker_killed_anywhere_goes_on_exactly_where_it_was(
    importer: Importer, worker: Worker
) -> None:
    """File after file, each killed while it is checked and while it is applied: every time the
    campaign then equals the file, with each contact once."""
    seed = random.randrange(1_000_000)
    chance = random.Random(seed)
    importer.send({"phone": number(0), "firstName": "Old"})
    kills = rounds = 0
    worker.start()
    while kills < KILLS:
        rounds += 1
        rows = [(f"P{index}v{rounds}", number(index)) for index in range(ROWS)]
        again = (f"Q{rounds}", number(7))
        upload_id = importer.upload(table("First name,Phone", [*rows, *[("Bad", "12")] * 5, again]))
        kills += _kill_while(importer, worker, upload_id, ImportStatus.READING, 1, chance)
        wait_until(in_state(importer, upload_id, ImportStatus.CHECKED))
        expected = (ROWS - 1, 2, 0, 0, 5) if rounds == 1 else (0, ROWS + 1, 0, 0, 5)
        assert counts(importer.now(upload_id)) == expected, f"seed {seed}"
        importer.start(upload_id)
        kills += _kill_while(
            importer, worker, upload_id, ImportStatus.APPLYING, KILLS - kills, chance
        )
        wait_until(in_state(importer, upload_id, ImportStatus.DONE))
        assert counts(importer.now(upload_id)) == expected, f"seed {seed}"
        people = {phone: name for name, phone in [*rows, again]}
        assert importer.people() == sorted(
            ((name, phone, None) for phone, name in people.items()), key=repr
        ), f"seed {seed}"
        with importer.database.transaction(read_only=True) as session:
            kept = [
                session.scalar(
                    select(func.count()).select_from(model).where(model.import_id == upload_id)
                )
                for model in (ImportRow, ImportChange)
            ]
        assert kept == [ROWS + 6, ROWS + 1], f"seed {seed}"
    assert worker.stop() == 0


def _kill_while(
    importer: Importer,
    worker: Worker,
    upload_id: UUID,
    state: ImportStatus,
    most: int,
    chance: random.Random,
) -> int:
    """Kills the worker at any moment of a state, each time after some of the work, and starts it
    again; returns how often it did before the work was done."""
    kills = 0
    while kills < most:
        before = _progress(importer, upload_id)
        wait_until(partial(_has_moved, importer, upload_id, before))
        time.sleep(chance.uniform(0, 0.1))
        if importer.now(upload_id).status is not state:
            break
        worker.kill()
        worker.start(wait=chance.random() < 0.5)
        kills += 1
    return kills


def _progress(importer: Importer, upload_id: UUID) -> tuple[ImportStatus, int, int]:
    upload = importer.now(upload_id)
    return upload.status, upload.rows_total, upload.rows_applied


def _has_moved(importer: Importer, upload_id: UUID, before: tuple[ImportStatus, int, int]) -> bool:
    now = _progress(importer, upload_id)
    return now != before or now[0] in (ImportStatus.CHECKED, ImportStatus.DONE)


def test_a_person_stops_an_upload_between_two_batches(importer: Importer, worker: Worker) -> None:
    upload_id = importer.upload(
        table("First name,Phone", [(f"P{index}", number(index)) for index in range(ROWS)])
    )
    worker.start()
    wait_until(in_state(importer, upload_id, ImportStatus.CHECKED), limit=60)
    importer.start(upload_id)
    wait_until(lambda: importer.now(upload_id).rows_applied > 0)
    with importer.database.transaction() as session:
        steps.cancel(session, importer.caller, upload_id)
    wait_until(in_state(importer, upload_id, ImportStatus.CANCELLED))
    stopped = importer.now(upload_id)
    assert 0 < stopped.rows_applied < ROWS
    assert len(importer.people()) == stopped.rows_applied == stopped.created


def _is_further(importer: Importer, upload_id: UUID, done: int) -> bool:
    """Whether more is undone by now, or all of it."""
    upload = importer.now(upload_id)
    return upload.undo_done > done or upload.undo_status == "undone"


@pytest.mark.crash
def test_a_killed_worker_goes_on_undoing_exactly_where_it_was(
    importer: Importer, worker: Worker
) -> None:
    """Killed in the middle of an undo; the campaign then is as it was before the file."""
    seed = random.randrange(1_000_000)
    chance = random.Random(seed)
    importer.send({"phone": number(0), "firstName": "Old"}, {"phone": number(ROWS)})
    before = importer.people()
    rows = [(f"P{index}", number(index)) for index in range(2000)]
    upload = importer.apply(importer.checked(table("First name,Phone", rows)).id)
    with importer.database.transaction() as session:
        undo.start(session, importer.caller, upload.id, 7)
    worker.start()
    for _ in range(UNDO_KILLS):
        wait_until(
            partial(_is_further, importer, upload.id, importer.now(upload.id).undo_done), limit=60
        )
        time.sleep(chance.uniform(0, 0.05))
        if importer.now(upload.id).undo_status == "undone":
            break
        worker.kill()
        worker.start(wait=chance.random() < 0.5)
    wait_until(lambda: importer.now(upload.id).undo_status == "undone", limit=60)
    assert worker.stop() == 0
    undone = importer.now(upload.id)
    assert (undone.undo_done, undo.result_of(undone)) == (
        2000,
        undo.UndoTotals(removed=1999, restored=1),
    ), f"seed {seed}"
    assert importer.people() == before, f"seed {seed}"
