"""The worker's periodic tasks run when they are due, whatever other systems do."""

from threading import Event

import pytest

from app.jobs import housekeeping
from app.jobs.housekeeping import HOUR, PeriodicTask


def test_a_task_that_waits_for_another_system_delays_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    is_waiting, answer, has_run, stop = Event(), Event(), Event(), Event()

    def wait_for_answer() -> None:
        is_waiting.set()
        answer.wait(30)

    monkeypatch.setattr(
        housekeeping, "OUTGOING_TASKS", [PeriodicTask("ask", HOUR, wait_for_answer)]
    )
    monkeypatch.setattr(
        housekeeping,
        "TASKS",
        [PeriodicTask("watch", HOUR, lambda: has_run.set() if is_waiting.wait(30) else None)],
    )
    housekeeping.start_periodic_tasks(stop, 0)
    assert has_run.wait(10)
    stop.set()
    answer.set()


def test_a_task_that_failed_runs_again_and_stops_no_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    has_failed, has_run_again, has_other_run, stop = Event(), Event(), Event(), Event()

    def fail_once() -> None:
        if has_failed.is_set():
            has_run_again.set()
            return
        has_failed.set()
        message = "the disk is full"
        raise OSError(message)

    monkeypatch.setattr(housekeeping, "OUTGOING_TASKS", [])
    monkeypatch.setattr(
        housekeeping,
        "TASKS",
        [PeriodicTask("tidy", 0.1, fail_once), PeriodicTask("watch", HOUR, has_other_run.set)],
    )
    housekeeping.start_periodic_tasks(stop, 0)
    assert has_other_run.wait(10)
    assert has_run_again.wait(10)
    stop.set()
    assert "housekeeping failed: tidy" in caplog.text
    assert "the disk is full" in caplog.text
