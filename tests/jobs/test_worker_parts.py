"""The worker's small parts: the gate, the log, the work that outlasts an outage."""

import logging
import threading
from collections.abc import Callable

import pytest
from sqlalchemy.exc import OperationalError

from app.jobs.resilience import ShutdownGate, retry_on_database_outage
from app.jobs.worker import RepeatedWarningFilter


def test_a_closed_gate_admits_nothing_and_waits_for_those_inside() -> None:
    gate, inside, leave, entered_late = ShutdownGate(""), threading.Event(), threading.Event(), []

    def dial() -> None:
        with gate:
            inside.set()
            leave.wait(5)

    def dial_late() -> None:
        with gate:
            entered_late.append(True)

    threading.Thread(target=dial, daemon=True).start()
    inside.wait(5)
    assert gate.close(0.05) is False
    threading.Thread(target=dial_late, daemon=True).start()
    leave.set()
    assert gate.close(5) is True
    assert entered_late == []


def record(line: int) -> logging.LogRecord:
    return logging.LogRecord("dbos", logging.WARNING, "file.py", line, "lost %s", ("it",), None)


def test_a_flood_of_the_same_line_is_cut_short() -> None:
    gate = RepeatedWarningFilter(most=2, window_seconds=60)
    assert [gate.filter(record(1)) for _ in range(4)] == [True, True, False, False]
    assert gate.filter(record(2)) is True


def test_the_log_says_how_many_lines_were_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("app.jobs.worker.time.monotonic", lambda: now[0])
    gate = RepeatedWarningFilter(most=1, window_seconds=30)
    for _ in range(4):
        gate.filter(record(1))
    now[0] += 31
    late = record(1)
    assert gate.filter(late) is True
    assert late.getMessage() == "lost it (3 more like it before)"


def failing(times: int, error: Exception) -> Callable[[], str]:
    left = [error] * times

    def work() -> str:
        if left:
            raise left.pop()
        return "done"

    return work


def test_work_is_repeated_until_the_database_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("app.jobs.resilience.time.sleep", pauses.append)
    away = OperationalError("SELECT 1", {}, Exception("gone"))
    assert retry_on_database_outage(failing(9, away))() == "done"
    assert pauses == [0.25, 0.5, 1, 2, 4, 5, 5, 5, 5]


def test_any_other_failure_is_passed_on() -> None:
    with pytest.raises(KeyError):
        retry_on_database_outage(failing(1, KeyError("a fault of ours")))()
