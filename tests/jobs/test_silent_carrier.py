"""A carrier that gives no answer about a call is left alone for longer and longer."""

from pathlib import Path

import pytest

from app.database import Database
from app.enums import CarrierKind
from app.gateways.carriers.sip.ledger import AttemptFact, AttemptLedger
from app.jobs import place_call
from app.jobs.place_call import NextStep
from app.models import new_id
from app.services.calls import attempts, claims
from app.services.calls.silence import NO_ANSWER
from tests.fixtures.databases import BACKENDS, Databases
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.twilio_worker import open_twilio_worker
from tests.fixtures.worker import create_calling_organization, outcome, read_call, wait_until
from tests.fixtures.worker_context import worker_context
from tests.matrix import rotating

SIP = CarrierKind.SIP


def test_the_pauses_grow_while_the_carrier_is_silent(
    fresh_database: Database, tmp_path: Path
) -> None:
    with worker_context(
        settings_for(url_of(fresh_database), tmp_path, carrier="sip", sip_trunk="127.0.0.1")
    ):
        call_id = create_calling_organization(fresh_database).dial(
            fresh_database, "+12125550101", carrier=SIP
        )
        attempt_id = new_id()
        with fresh_database.transaction() as session:
            claims.next_step(session, call_id, attempt_id, calls_at_once=1)
            attempts.record_placed(session, attempt_id, "a Call-ID")
        # The ledger of the call is missing, so the trunk can't say what happens.
        steps = [place_call.follow(attempt_id, SIP)]
        for _ in range(5):
            assert steps[-1] is not None
            steps.append(place_call.follow(attempt_id, SIP, steps[-1].seconds))
        pauses = (2.0, 4.0, 8.0, 16.0, 30.0, 30.0)
        assert steps == [NextStep("follow", pause, SIP, is_silent=True) for pause in pauses]
        with AttemptLedger(tmp_path / "sip").open_file(attempt_id) as attempt_file:
            attempt_file.write(AttemptFact.ASKED)
            attempt_file.write(AttemptFact.DIALING)
            attempt_file.write(AttemptFact.TAKEN, reference="a Call-ID")
            attempt_file.write(AttemptFact.ENDED, reason="busy")
        assert place_call.follow(attempt_id, SIP, 30.0) is None
        assert read_call(fresh_database, call_id).status == "busy"


@pytest.mark.worker
@pytest.mark.parametrize("backend", rotating("database of a silent carrier", BACKENDS))
def test_a_silent_call_lets_the_next_one_be_placed(
    databases: Databases, tmp_path: Path, backend: str
) -> None:
    settings = {"PORTAL_CALLS_PER_ORGANIZATION": "1", "PORTAL_SILENT_CALL_MINUTES": "0.02"}
    with open_twilio_worker(databases, backend, tmp_path, **settings) as twilio_worker:
        twilio_worker.worker.start()
        number = twilio_worker.number(outcome="long", callbacks="lost", silent=True)
        silent = twilio_worker.dial(number)
        wait_until(lambda: twilio_worker.carrier.calls_to(number))
        assert outcome(twilio_worker.database, twilio_worker.dial(twilio_worker.number())) == (
            "completed",
            "completed",
            "human",
        )
        call = read_call(twilio_worker.database, silent)
        assert (call.status, call.status_detail) == ("in-progress", NO_ANSWER)
        twilio_worker.carrier.behaviours[number].silent = False
        [placed] = twilio_worker.carrier.calls_to(number)
        twilio_worker.carrier._become(placed, "completed")
        assert outcome(twilio_worker.database, silent)[0] == "completed"
        assert len(twilio_worker.carrier.calls_to(number)) == 1
