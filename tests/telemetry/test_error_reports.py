"""Sentry gets the place in the code that failed, and none of the data."""

import subprocess
import sys
from pathlib import Path

from tests.fixtures.collector import collector

ROOT = Path(__file__).resolve().parents[2]
FAILS = """
import logging, sys
from app.telemetry import error_reports
from app.telemetry.context import working_on

def work(name: str) -> None:
    message = f"{name} is busy; write to dana@example.com"
    raise LookupError(message)

error_reports.start(sys.argv[1], "test")
with working_on(call_id="0190b2a4-6f5e-7c31-9d7a-2b8f0c1d3e4f"):
    try:
        work("+12025550101")
    except LookupError:
        logging.getLogger("app.jobs").exception("the call of %s failed", "+12025550101")
error_reports.stop()
"""


def test_an_error_is_reported_with_its_ids_and_without_personal_data() -> None:
    with collector() as sentry:
        command = [sys.executable, "-c", FAILS, sentry.sentry_dsn]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=60)
        [event] = sentry.events()
        sent = repr(sentry.received)
    [error] = event["exception"]["values"]
    assert (error["type"], error["value"]) == (
        "LookupError",
        "[number] is busy; write to [email]",
    )
    assert error["stacktrace"]["frames"][-1]["function"] == "work"
    assert "vars" not in error["stacktrace"]["frames"][-1]
    assert event["logentry"] == {"message": "the call of [number] failed"}
    assert event["tags"] == {"call_id": "0190b2a4-6f5e-7c31-9d7a-2b8f0c1d3e4f"}
    assert {"user", "request", "server_name", "breadcrumbs", "extra"} & event.keys() == set()
    assert [each for each in ("2025550101", "dana@") if each in sent] == []


def test_without_the_setting_nothing_is_started_or_needed() -> None:
    script = (
        "import sys; from app.telemetry import error_reports, tracing; "
        "error_reports.stop(); tracing.stop(); "
        "print([m for m in ('sentry_sdk', 'opentelemetry') if m in sys.modules])"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n"
