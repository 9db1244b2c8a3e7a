"""Cancelling through the public face during an active call."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.database import Database
from app.factory import create_app
from app.services.calls.cancel import CANCELLING
from tests.api.public.conftest import Script, make_key
from tests.fixtures.databases import BACKENDS
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.worker import Worker, make_calling_organization, wait_until
from tests.matrix import rotating


@pytest.fixture
def script(fresh_database: Database, tmp_path: Path) -> Script:
    """The application on a database that the worker shares."""
    with fresh_database.transaction() as session:
        calling_organization = make_calling_organization(session)
        secret = make_key(session, calling_organization)
    app = create_app(settings_for(url_of(fresh_database), tmp_path), fresh_database)
    return Script(app.test_client(), secret, str(calling_organization.assistant_id))


@pytest.fixture
def worker(fresh_database: Database) -> Iterator[Worker]:
    running = Worker(fresh_database, PORTAL_SIMULATOR_PACE="0.4")
    running.start()
    yield running
    running.close()


def status(script: Script, call_id: str) -> str:
    return str(script.get(f"/outbound/calls/{call_id}").get_json()["status"])


def test_an_active_call_is_ended_after_cancelling_is_answered(
    script: Script, worker: Worker
) -> None:
    call_id = script.call().get_json()["callId"]
    wait_until(lambda: status(script, call_id) == "in-progress")
    answer = script.cancel(call_id)
    body = answer.get_json()
    assert (answer.status_code, body["status"], body["statusDetail"]) == (
        200,
        "in-progress",
        CANCELLING,
    )
    wait_until(lambda: status(script, call_id) == "canceled")
    again = script.cancel(call_id)
    body = again.get_json()
    assert (again.status_code, body["status"], body["endedReason"], body["answeredBy"]) == (
        200,
        "canceled",
        "canceled",
        "human",
    )
    assert [attempt["status"] for attempt in body["attempts"]] == ["canceled"]
    assert body["statusDetail"] is None


def test_a_call_that_is_over_is_not_cancelled(script: Script, worker: Worker) -> None:
    call_id = script.call(contact={"phoneNumber": "+12025550103"}).get_json()["callId"]
    wait_until(lambda: status(script, call_id) == "busy")
    answer = script.cancel(call_id)
    assert (answer.status_code, answer.get_json()["details"]["code"]) == (409, "call_ended")


@pytest.mark.parametrize("backend", rotating("cancelled unattended", BACKENDS), indirect=True)
def test_a_cancelled_call_is_ended_once_the_worker_is_back(
    script: Script, worker: Worker, fresh_database: Database
) -> None:
    call_id = script.call(contact={"phoneNumber": "+12025550106"}).get_json()["callId"]
    wait_until(lambda: status(script, call_id) == "dialing")
    worker.kill()
    answer = script.cancel(call_id)
    assert (answer.status_code, answer.get_json()["status"]) == (200, "dialing")
    worker.start()
    wait_until(lambda: status(script, call_id) == "canceled")
