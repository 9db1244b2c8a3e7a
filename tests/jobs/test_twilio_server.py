"""Calls over a Twilio-compatible server that others have written, with callbacks it signs."""

from pathlib import Path

import pytest

from app.enums import CallStatus
from app.services import calls
from tests.fixtures.databases import Databases
from tests.fixtures.twilio_server import twilio_server
from tests.fixtures.twilio_worker import dial, portal_over
from tests.fixtures.worker import create_calling_organization, outcome, read_call, wait_until


@pytest.mark.parametrize("backend", ["sqlite"])
def test_calls_are_placed_reported_and_cancelled(
    databases: Databases, backend: str, tmp_path: Path
) -> None:
    with (
        twilio_server(tmp_path, "+12025550199") as carrier,
        portal_over(databases, backend, tmp_path, carrier.account) as (database, worker, _url),
    ):
        worker.start()
        calling_organization = create_calling_organization(database)
        first, second = (
            dial(database, calling_organization, f"+1212555020{last}") for last in (1, 2)
        )
        both = (first, second)
        wait_until(
            lambda: {read_call(database, one).status for one in both} == {CallStatus.RINGING}
        )
        [placed] = carrier.client.calls.list(to="+12125550201")
        placed.update(status="busy")
        assert outcome(database, first) == ("busy", "busy", None)
        with database.transaction() as session:
            calls.cancel(session, calling_organization.key, second, ())
        assert outcome(database, second) == ("canceled", "canceled", None)
        statuses = {call.to: call.status for call in carrier.client.calls.list()}
        assert statuses == {"+12125550201": "busy", "+12125550202": "completed"}
