"""A campaign through the real worker process, which is killed while it hands in calls."""

from collections import Counter
from collections.abc import Callable

import pytest
from sqlalchemy import func, select

from app.database import Database
from app.models import Call, OutreachContact, SimulatedCall
from tests.fixtures.databases import BACKENDS
from tests.fixtures.outreach import start_campaign
from tests.fixtures.worker import Worker, create_calling_organization, unfinished_calls, wait_until
from tests.matrix import is_full, rotating

KILLED_AFTER = (1, 9, 17) if is_full() else (2,)
"""So many contacts have been looked at."""
CONTACTS = KILLED_AFTER[-1] + 6


@pytest.mark.parametrize("backend", rotating("database of a campaign", BACKENDS), indirect=True)
def test_a_killed_worker_calls_every_contact_of_a_campaign_once(
    fresh_database: Database, make_worker: Callable[..., Worker]
) -> None:
    calling_organization = create_calling_organization(fresh_database)
    start_campaign(fresh_database, calling_organization, CONTACTS)
    worker = make_worker(PORTAL_CALLS_PER_ORGANIZATION="4")

    def called() -> int:
        with fresh_database.transaction(read_only=True) as session:
            return session.scalar(select(func.count()).select_from(OutreachContact)) or 0

    for enough in KILLED_AFTER:
        worker.start()
        wait_until(lambda enough=enough: called() >= enough)  # type: ignore[misc]  # bound at once
        worker.kill()
    worker.start()
    wait_until(lambda: called() == CONTACTS and unfinished_calls(fresh_database) == 0)
    with fresh_database.transaction(read_only=True) as session:
        asked = Counter(session.scalars(select(Call.phone_number)))
        rung = Counter(session.scalars(select(SimulatedCall.to_number)))
    everyone = Counter(f"+1212555{number:04}" for number in range(CONTACTS))
    assert (asked, rung) == (everyone, everyone)
