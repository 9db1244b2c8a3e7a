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


def test_the_watch_of_calls_and_the_costs_of_calls_have_separate_threads() -> None:
    assert housekeeping.watch_calls in {task.run for task in housekeeping.TASKS}
    assert housekeeping.ask_for_costs in {task.run for task in housekeeping.OUTGOING_TASKS}
