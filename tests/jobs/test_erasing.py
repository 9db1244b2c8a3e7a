"""A worker erases a contact from everything that is stored, and its log names no one."""

from collections.abc import Callable
from pathlib import Path

import pytest

from app.database import Database
from app.enums import ErasureStatus
from app.models import Erasure
from tests.fixtures.canaries import files_in, places_in_database
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.worker import Worker, wait_until
from tests.matrix import rotating
from tests.services.personal_data.stored_contact import CANARIES, make_stored_contact

backend = runs_on(rotating("database of erasures", BACKENDS))


def test_a_worker_erases_a_contact_without_naming_it_in_the_log(
    fresh_database: Database,
    make_worker: Callable[..., Worker],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Mails, webhooks and the export of the organization wait for the same worker."""
    settings = settings_for(url_of(fresh_database), tmp_path)
    with fresh_database._sessions() as session:
        stored_contact = make_stored_contact(session, fresh_database, settings, tmp_path)
    erasure_id = stored_contact.request()

    def state() -> ErasureStatus:
        with fresh_database.transaction(read_only=True) as session:
            return session.get_one(Erasure, erasure_id).status

    worker = make_worker(PORTAL_INSTANCE_DIR=str(tmp_path), PORTAL_LOG_FORMAT="json")
    worker.start()
    wait_until(lambda: state() in (ErasureStatus.DONE, ErasureStatus.FAILED), 60)
    worker.stop()
    assert state() is ErasureStatus.DONE
    with fresh_database.transaction(read_only=True) as session:
        assert places_in_database(session, CANARIES) == {("do_not_call", "phone")}
    assert files_in(tmp_path, CANARIES) == set()
    log = "".join(capfd.readouterr())
    assert "erase_subject" in log
    assert [word for word in CANARIES if word in log] == []
