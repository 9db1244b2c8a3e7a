"""Passwords are hashed a few at a time; requests that would wait too long are refused."""

import os
import runpy
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier, Event, Thread
from time import sleep

import pytest

from app.config import ROOT
from app.errors import RateLimited
from app.services.auth.password_checks import PasswordChecks


@contextmanager
def occupied_turn(checks: PasswordChecks) -> Iterator[None]:
    """One slot, kept by another thread until the block ends."""
    has_begun, may_end = Event(), Event()

    def keep() -> None:
        with checks.slot():
            has_begun.set()
            may_end.wait(5)

    thread = Thread(target=keep)
    thread.start()
    assert has_begun.wait(5)
    yield
    may_end.set()
    thread.join()


def outcome(checks: PasswordChecks) -> str | tuple[str, int]:
    try:
        with checks.slot():
            return "checked"
    except RateLimited as refused:
        return refused.code, refused.retry_after


def test_no_more_passwords_are_checked_at_once_than_allowed() -> None:
    checks, running, most = PasswordChecks(2, 6), set[int](), []
    ready = Barrier(8)

    def check(number: int) -> None:
        ready.wait()
        with checks.slot():
            running.add(number)
            most.append(len(running))
            sleep(0.02)
            running.remove(number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(check, range(8)))
    assert (len(most), max(most)) == (8, 2)


def test_a_request_is_refused_at_once_if_too_many_wait() -> None:
    checks = PasswordChecks(1, 0)
    with occupied_turn(checks):
        assert outcome(checks) == ("sign_in_busy", 3)
    assert outcome(checks) == "checked"


def test_a_request_is_refused_if_its_turn_takes_too_long() -> None:
    checks = PasswordChecks(1, 1, max_wait_seconds=0.05)
    with occupied_turn(checks):
        assert [outcome(checks), outcome(checks)] == [("sign_in_busy", 3)] * 2
    assert outcome(checks) == "checked"


def test_an_error_frees_its_turn() -> None:
    checks = PasswordChecks(1, 0)
    with pytest.raises(ZeroDivisionError), checks.slot():
        raise ZeroDivisionError
    assert outcome(checks) == "checked"


@pytest.mark.parametrize(
    ("given", "cores", "expected"),
    [
        ({}, 4, ("2", "3")),
        ({}, 1, ("1", "3")),
        ({}, 64, ("2", "3")),
        ({"DATABASE_URL": "postgresql://db/portal"}, 4, ("1", "8")),
        ({"DATABASE_URL": "postgresql://db/portal"}, 64, ("5", "8")),
        ({"PORTAL_PASSWORD_CHECKS": "7", "PORTAL_PASSWORD_CHECKS_WAITING": "9"}, 4, ("7", "9")),
    ],
)
def test_password_checks_leave_cores_and_threads_to_pages(
    monkeypatch: pytest.MonkeyPatch,
    given: dict[str, str],
    cores: int,
    expected: tuple[str, str],
) -> None:
    monkeypatch.setattr(os, "environ", given)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    runpy.run_path(str(ROOT / "gunicorn.conf.py"))
    names = ("PORTAL_PASSWORD_CHECKS", "PORTAL_PASSWORD_CHECKS_WAITING")
    assert tuple(given[name] for name in names) == expected
