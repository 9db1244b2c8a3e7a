"""Work that a living worker has lost is queued again."""

from collections.abc import Callable

import pytest
from sqlalchemy import text

from app.database import Database
from tests.fixtures.worker import (
    Worker,
    create_calling_organization,
    outcome,
    read_call,
    wait_until,
)


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_a_worker_takes_back_a_call_that_it_has_lost(
    fresh_database: Database, make_worker: Callable[..., Worker], backend: str
) -> None:
    worker = make_worker(PORTAL_CALLS_PER_ORGANIZATION="1", PORTAL_SIMULATOR_PACE="0.5")
    worker.start()
    calling_organization = create_calling_organization(fresh_database)
    calling_organization.dial(fresh_database, "+12125550701")
    waiting = calling_organization.dial(fresh_database, "+12125550702")
    busy = text(
        "SELECT executor_id FROM dbos.workflow_status WHERE queue_name = 'calls' "
        "AND status = 'PENDING'"
    )

    def executor() -> str | None:
        with fresh_database.transaction(read_only=True) as session:
            found: str | None = session.scalar(busy)
            return found

    wait_until(executor)
    # As if the claim was committed and its answer lost in an outage.
    lost = text(
        "UPDATE dbos.workflow_status SET status = 'PENDING', executor_id = :own "
        "WHERE queue_name = 'calls' AND status = 'ENQUEUED'"
    )
    with fresh_database.transaction() as session:
        session.execute(lost, {"own": executor()})
    assert read_call(fresh_database, waiting).status == "queued"
    assert outcome(fresh_database, waiting, 60) == ("completed", "completed", "human")
