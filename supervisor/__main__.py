"""``python -m supervisor --port 8000``: prepares the database, then runs web and worker."""

import argparse
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, NoReturn

from app import INSTANCE, ROOT
from supervisor.announce import summary
from supervisor.parent import ParentSignals
from supervisor.processes import Program, RestartRules, Supervisor, end_with_parent

READY_LIMIT = 60.0
FLASK = (sys.executable, "-m", "flask", "--app", "wsgi")


def say(text: str) -> None:
    try:
        print(text, flush=True)
    except OSError:  # the reader has closed the pipe; the server continues
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - stays open until the end


def fail(message: str) -> NoReturn:
    print(message, file=sys.stderr, flush=True)
    raise SystemExit(1)


def listen_on(port: int) -> socket.socket:
    """Bind the port on loopback; on failure end the program with one sentence.

    The supervisor keeps this socket and the web server inherits it, so that a web server killed
    under load loses no connection: they wait for the next one.
    """
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(1024)
    except PermissionError:
        fail(f"Port {port} may not be used by this account. Choose one above 1023: make run PORT=…")
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        fail(f"Port {port} is taken by another program. Choose another: make run PORT={port + 1}")
    return listener


def step(title: str, *arguments: str) -> str:
    """Run one command of the application to its end; return what it printed."""
    print(f"{title} …", end=" ", flush=True)
    began, parent = time.monotonic(), os.getpid()
    completed = subprocess.run(
        [*FLASK, *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        preexec_fn=lambda: end_with_parent(signal.SIGTERM, parent),
    )
    if completed.returncode != 0:
        say("failed")
        sys.stdout.write(completed.stdout)
        fail(f"{title}: failed with status {completed.returncode}. What is printed above says why.")
    say(f"{time.monotonic() - began:.1f} s")
    return completed.stdout


def prepare_database() -> None:
    """Migrate the database; fill an empty one with the demo's data, except in production."""
    state = json.loads(step("Bringing the database up to date", "migrate", "--json"))
    if state["empty"] and os.environ.get("PORTAL_ENV") != "production":
        step("Filling the empty database with demo data", "demo", "--json")


def readiness(port: int) -> dict[str, Any] | None:
    """Return the response of /readyz, None without one."""
    connection = HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/readyz", headers={"Connection": "close"})
        answer: dict[str, Any] = json.loads(connection.getresponse().read())
    except (OSError, HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return answer


class StartAnnouncement:
    """Prints the summary once everything is ready; reports when that takes too long."""

    def __init__(self, port: int, base_url: str, demo_file: Path):
        self._port = port
        self._base_url = base_url
        self._demo_file = demo_file
        self._complain_at: float | None = time.monotonic() + READY_LIMIT
        self._done = False

    def when_ready(self) -> None:
        if self._done:
            return
        state = readiness(self._port)
        if state is not None and state.get("status") == "ready":
            self._done = True
            say(summary(self._base_url, self._demo_file))
        elif self._complain_at is not None and time.monotonic() >= self._complain_at:
            self._complain_at = None
            checks = (state or {}).get("checks") or {"web": "does not answer"}
            say(f"Not ready after {READY_LIMIT:.0f} s, still trying: {json.dumps(checks)}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="supervisor")
    parser.add_argument("--port", type=int, default=8000)
    limit = RestartRules().stop_limit + float(os.environ.get("PORTAL_STOP_DELAY_SECONDS") or 0)
    parser.add_argument("--stop-limit", type=float, default=limit, metavar="SECONDS")
    parser.add_argument(
        "--end-with", type=int, metavar="PID", help="stop when this parent process has gone"
    )
    return parser.parse_args()


def main() -> int:
    options = arguments()
    if options.end_with is not None:
        end_with_parent(signal.SIGTERM, options.end_with)
    base_url = f"http://127.0.0.1:{options.port}"
    os.environ.setdefault("PORTAL_PUBLIC_URL", base_url)
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    instance = Path(os.environ.get("PORTAL_INSTANCE_DIR") or INSTANCE)
    os.chdir(ROOT)
    with listen_on(options.port) as listener:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        try:
            prepare_database()
        except KeyboardInterrupt:
            return 128 + signal.SIGINT
        say("Starting web and worker …")
        descriptor = listener.fileno()
        web = (sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py")
        programs = [
            Program(
                "web", (*web, "--bind", f"fd://{descriptor}", "wsgi:app"), keep_open=(descriptor,)
            ),
            Program("worker", (sys.executable, "-m", "app.jobs.worker")),
        ]
        announcement = StartAnnouncement(options.port, base_url, instance / "demo.json")
        supervisor = Supervisor(programs, say, RestartRules(stop_limit=options.stop_limit))
        parent = ParentSignals(os.getppid())

        def tick() -> None:
            announcement.when_ready()
            parent.hand_on_interrupt()

        return supervisor.run(tick)


if __name__ == "__main__":
    raise SystemExit(main())
