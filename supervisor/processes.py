"""Keeps a set of programs running, by the rules of `RestartRules`."""

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_PDEATHSIG = 1
HURRY_AFTER = 1.0
"""Seconds after the first Ctrl-C from which a second one means "now"; earlier ones are repetitions
of the same stop."""


def _prctl() -> Callable[[int, int], int] | None:
    if sys.platform != "linux":
        return None
    prctl: Callable[[int, int], int] = ctypes.CDLL(None).prctl
    return prctl


_set_process_option = _prctl()  # looked up here: after a fork nothing should be loaded


def end_with_parent(stop_signal: signal.Signals, parent: int) -> None:
    """Make the kernel send this process ``stop_signal`` when ``parent`` dies, even by kill -9.

    Only Linux supports this; elsewhere this does nothing.
    """
    if _set_process_option is None:
        return
    _set_process_option(PR_SET_PDEATHSIG, stop_signal)
    if os.getppid() != parent:  # it died before the request was recorded
        os.kill(os.getpid(), stop_signal)


@dataclass(frozen=True, slots=True)
class Program:
    """A program to run. ``keep_open`` are file descriptors that it inherits."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    keep_open: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RestartRules:
    """When to start a program again. Durations are in seconds.

    Killed by a signal: always at once. Exited within ``start_limit`` of its start: after the next
    of ``pauses``; after the last one the supervisor gives up. Exited later: at once, and failed
    starts are counted from zero again.
    """

    start_limit: float = 10.0
    pauses: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0, 8.0)
    stop_limit: float = 25.0
    """Longer than the web server's own limit for requests in flight."""


class GaveUp(Exception):
    """A program doesn't start after several attempts."""


class _Child:
    def __init__(self, program: Program):
        self.program = program
        self.process: subprocess.Popen[bytes] | None = None
        self.started_at = 0.0
        self.start_at = 0.0
        self.failed_starts = 0

    def start(self) -> None:
        parent = os.getpid()
        self.started_at = time.monotonic()
        self.process = subprocess.Popen(
            self.program.command,
            env={**os.environ, **self.program.environment},
            stdin=subprocess.DEVNULL,
            pass_fds=self.program.keep_open,
            start_new_session=True,  # the terminal's Ctrl-C reaches only the supervisor
            preexec_fn=lambda: end_with_parent(signal.SIGKILL, parent),  # noqa: PLW1509 - a single thread
        )

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None


class Supervisor:
    """Runs programs until SIGINT, SIGTERM or SIGHUP."""

    def __init__(
        self, programs: list[Program], say: Callable[[str], None], rules: RestartRules | None = None
    ):
        self._children = [_Child(program) for program in programs]
        self._say = say
        self._rules = rules or RestartRules()
        self._groups: set[int] = set()
        self._stop_asked_at: float | None = None
        self._hurry = False

    def run(self, tick: Callable[[], None]) -> int:
        """Start everything and return an exit status once everything has ended.

        ``tick`` is called several times a second; it must return soon.
        """
        with self._signals() as woken:
            try:
                while self._stop_asked_at is None:
                    self._look_after_children()
                    tick()
                    select.select([woken], [], [], 0.2)
                    _drain(woken)
            except GaveUp as error:
                self._say(str(error))
                self._stop(woken)
                return 1
            self._say("Stopping.")
            self._stop(woken)
        self._say("Stopped.")
        return 0

    @contextmanager
    def _signals(self) -> Iterator[int]:
        """Collect signals; the yielded descriptor becomes readable with each."""
        woken, waker = os.pipe()
        os.set_blocking(woken, False)
        os.set_blocking(waker, False)
        handled = [
            stop_signal for stop_signal in STOP_SIGNALS if not _hang_up_is_ignored(stop_signal)
        ]
        before = {
            stop_signal: signal.signal(stop_signal, self._asked_to_stop) for stop_signal in handled
        }
        before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)
        waker_before = signal.set_wakeup_fd(waker)
        try:
            yield woken
        finally:
            signal.set_wakeup_fd(waker_before)
            for stop_signal, handler in before.items():
                signal.signal(stop_signal, handler)
            os.close(woken)
            os.close(waker)

    def _asked_to_stop(self, number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._stop_asked_at is None:
            self._stop_asked_at = now
        elif number == signal.SIGINT and now - self._stop_asked_at >= HURRY_AFTER:
            self._hurry = True

    def _look_after_children(self) -> None:
        now = time.monotonic()
        for child in self._children:
            if child.process is not None and not child.running:
                child.start_at = now + self._pause_after(child, child.process)
                child.process = None
            if child.process is None and now >= child.start_at:
                child.start()
                if child.process is not None:
                    self._groups.add(child.process.pid)
        self._groups = {group for group in self._groups if _exists(group)}

    def _pause_after(self, child: _Child, ended: subprocess.Popen[bytes]) -> float:
        """Report what happened to a child that has ended; return the wait before its next start."""
        name, status = child.program.name, ended.returncode
        if status < 0:
            self._say(f"{name} was killed by {_signal_name(-status)}; starting it again.")
            return 0.0
        if time.monotonic() - child.started_at >= self._rules.start_limit:
            child.failed_starts = 0
            self._say(f"{name} ended with status {status}; starting it again.")
            return 0.0
        child.failed_starts += 1
        if child.failed_starts > len(self._rules.pauses):
            message = (
                f"GIVING UP: {name} ended {child.failed_starts} times right after its start, the "
                f"last time with status {status}. What it printed above says why. "
                f"Everything is being stopped."
            )
            raise GaveUp(message)
        pause = self._rules.pauses[child.failed_starts - 1]
        self._say(
            f"{name} ended with status {status} right after its start; next try in {pause:g} s."
        )
        return pause

    def _stop(self, woken: int) -> None:
        """Stop every child, wait, and kill the rest of their process groups."""
        for child in self._children:
            if child.process is not None and child.running:
                child.process.terminate()
        deadline = time.monotonic() + self._rules.stop_limit
        while any(child.running for child in self._children):
            if self._hurry or time.monotonic() >= deadline:
                late = ", ".join(child.program.name for child in self._children if child.running)
                self._say(f"Killing what has not stopped yet: {late}.")
                break
            select.select([woken], [], [], 0.1)
            _drain(woken)
        for group in self._groups:
            if _exists(group):
                os.killpg(group, signal.SIGKILL)
        for child in self._children:
            if child.process is not None:
                child.process.wait()


def _exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _drain(descriptor: int) -> None:
    try:
        while os.read(descriptor, 512):
            pass
    except BlockingIOError:
        return


def _hang_up_is_ignored(stop_signal: signal.Signals) -> bool:
    """Return whether SIGHUP is ignored: under nohup the terminal may close."""
    return stop_signal is signal.SIGHUP and signal.getsignal(stop_signal) is signal.SIG_IGN


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
