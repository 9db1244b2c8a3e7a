"""`calls reconcile` writes down what the carrier placed since a backup: nothing rings twice."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url, select, text

from app.database import Database, make_engine
from app.enums import CallStatus, CarrierKind, OutreachStatus
from app.factory import create_app
from app.jobs.restore_detection import MarkFile
from app.models import (
    Call,
    CarrierAccount,
    HeldCall,
    OutreachContact,
    SimulatedCall,
    new_id,
    utcnow,
)
from app.policy.caller import system_caller
from app.services import pauses
from tests.fixtures.databases import BACKENDS, Databases, runs_on
from tests.fixtures.faulty_carrier import FaultyCarrier
from tests.fixtures.outreach import start_campaign
from tests.fixtures.settings import SECRET_KEY, settings_for, url_of
from tests.fixtures.twilio_worker import WAITS, dial
from tests.fixtures.worker import (
    CallingOrganization,
    Worker,
    create_calling_organization,
    unfinished_calls,
    wait_until,
)
from tests.matrix import rotating

WAITING, CONTACTS = 7, 3


backend = runs_on(rotating("database of a reconciliation", BACKENDS))


@pytest.fixture
def workers() -> Iterator[list[Worker]]:
    started: list[Worker] = []
    yield started
    for worker in started:
        worker.close()


def worker_on(database: Database, carrier: FaultyCarrier, folder: Path) -> Worker:
    waits = {f"PORTAL_CARRIER_{name.upper()}_SECONDS": reported for name, reported in WAITS.items()}
    return Worker(
        database,
        PORTAL_CARRIER="twilio",
        PORTAL_SECRET_KEY=SECRET_KEY,
        PORTAL_INSTANCE_DIR=str(folder),
        **carrier.settings,
        **waits,
    )


def command(
    database: Database, account: dict[str, str], folder: Path, *words: str, fails: bool = False
) -> dict[str, Any]:
    settings = settings_for(url_of(database), folder, carrier="twilio", **account)
    runner = create_app(settings, database).test_cli_runner()
    result = runner.invoke(args=["calls", "reconcile", "--json", *words])
    assert result.exit_code == int(fails), result.output
    if fails:
        return {"error": result.output.removeprefix("Error: ")}
    described: dict[str, Any] = json.loads(result.stdout)
    return described


def place(carrier: FaultyCarrier, to_number: str, from_number: str) -> None:
    """A call of which no answer reaches us."""
    nowhere = ["http://127.0.0.1:9/?attempt=another"]
    urls = {"Url": nowhere, "StatusCallback": nowhere, "StatusCallbackEvent": []}
    carrier.place({"To": [to_number], "From": [from_number]} | urls)


def copied(databases: Databases, source: Database, folder: Path) -> Database:
    """The database as a backup holds it now."""
    if source.is_sqlite:
        path = folder / "restored.db"
        with source.engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            connection.exec_driver_sql("COMMIT")
            connection.execute(text("VACUUM INTO :path"), {"path": str(path)})
        return Database(make_engine(f"sqlite:///{path}"))
    source.dispose()
    name = str(make_url(url_of(source)).database)
    return Database(make_engine(databases.create("postgresql", like=name)))


def accepted(database: Database) -> CallingOrganization:
    """Calls that wait, and a campaign that has called no contact yet."""
    calling_organization = create_calling_organization(database)
    for suffix in range(WAITING):
        dial(database, calling_organization, f"+1212555{1000 + suffix}")
    return calling_organization


def held_count(database: Database) -> int:
    with database.transaction(read_only=True) as session:
        return len(session.scalars(select(HeldCall.call_id)).all())


def statuses(database: Database) -> Counter[str]:
    with database.transaction(read_only=True) as session:
        return Counter(status.value for status in session.scalars(select(Call.status)))


@pytest.mark.worker
def test_calls_placed_since_the_backup_are_recorded_and_calling_resumes(
    fresh_database: Database,
    databases: Databases,
    carrier: FaultyCarrier,
    workers: list[Worker],
    tmp_path: Path,
) -> None:
    calling_organization = accepted(fresh_database)
    start_campaign(fresh_database, calling_organization, CONTACTS)
    mark = MarkFile(tmp_path / "old host", fresh_database)
    with fresh_database.transaction() as session:
        mark.advance(session)
    restored = copied(databases, fresh_database, tmp_path)

    before = worker_on(fresh_database, carrier, tmp_path / "old host")
    after = worker_on(restored, carrier, tmp_path / "new host")
    workers += [before, after]
    before.start()
    wait_until(
        lambda: len(carrier.ledger) == WAITING + CONTACTS and unfinished_calls(fresh_database) == 0
    )
    before.stop()
    with restored.transaction() as session:
        for number in (2000, 2001):
            calling_organization.accept(session, f"+1212555{number}", carrier=CarrierKind.TWILIO)

    after.start()
    wait_until(lambda: held_count(restored) >= WAITING + 2)
    described = command(restored, carrier.settings, tmp_path / "new host")
    (counts,) = described["carriers"]
    written = counts["waitingCalls"] + counts["campaignContacts"]
    assert (counts["listed"], written, described["resumed"]) == (WAITING + CONTACTS,) * 2 + (True,)
    wait_until(lambda: unfinished_calls(restored) == 0)
    after.stop()
    assert set(Counter(placed.to for placed in carrier.ledger).values()) == {1}
    assert len(carrier.ledger) == WAITING + CONTACTS + 2
    assert statuses(restored) == {"completed": WAITING + CONTACTS + 2}
    restored.dispose()


def test_a_call_from_another_number_and_a_silent_carrier_keep_the_pause(
    fresh_database: Database, databases: Databases, carrier: FaultyCarrier, tmp_path: Path
) -> None:
    accepted(fresh_database)
    mark = MarkFile(tmp_path, fresh_database)
    with fresh_database.transaction() as session:
        mark.advance(session)
    restored = copied(databases, fresh_database, tmp_path)
    mark = MarkFile(tmp_path / "new host", restored)
    with restored.transaction() as session:
        mark.advance(session)
    place(carrier, "+12125551000", "+12025559999")
    place(carrier, "+12125559000", "+12025559999")
    described = command(restored, carrier.settings, tmp_path / "new host")
    found = described["carriers"][0]
    assert [described["resumed"], found["unclear"], found["others"]] == [False, 1, 1]

    silent = carrier.settings | {"TWILIO_API_URL": "http://127.0.0.1:9"}
    described = command(restored, silent, tmp_path / "new host")
    assert [described["resumed"], described["carriers"][0]["listed"]] == [False, 0]
    assert described["carriers"][0]["problem"].startswith("No list of calls: ")
    assert command(restored, silent, tmp_path / "new host", "--resume")["resumed"] is True
    restored.dispose()


def test_an_account_whose_secret_cannot_be_read_keeps_the_pause(
    fresh_database: Database, carrier: FaultyCarrier, tmp_path: Path
) -> None:
    calling_organization = create_calling_organization(fresh_database)
    with fresh_database.transaction() as session:
        call = calling_organization.accept(session, carrier=CarrierKind.TWILIO)
        account = CarrierAccount(
            partner_id=call.partner_id,
            owner_id=call.partner_id,
            carrier=CarrierKind.TWILIO,
            sid="AC" + "1" * 32,
            secret="sealed with another key",
            created_by="tests",
        )
        session.add(account)
        session.flush()
        call.account_id = account.id
        pauses.pause(session, system_caller("tests"), pauses.PauseScope(), "restored by hand")
    hour_ago = f"{utcnow() - timedelta(hours=1):%Y-%m-%d %H:%M:%S}"
    described = command(fresh_database, carrier.settings, tmp_path, "--since", hour_ago)
    problem = f"The carrier account {account.id} can no longer be used: it can't be asked."
    assert [each["problem"] for each in described["carriers"]] == [problem]
    assert described["resumed"] is False


def test_contacts_that_their_campaign_had_yet_to_call_count_as_called(
    fresh_database: Database, carrier: FaultyCarrier, tmp_path: Path
) -> None:
    calling_organization = create_calling_organization(fresh_database)
    start_campaign(fresh_database, calling_organization, CONTACTS)
    with fresh_database.transaction() as session:
        pauses.pause(session, system_caller("tests"), pauses.PauseScope(), "restored by hand")
    place(carrier, "+12125550001", "+12025550199")
    wait_until(lambda: carrier.ledger[0].status == "completed")
    hour_ago = f"{utcnow() - timedelta(hours=1):%Y-%m-%d %H:%M:%S}"
    described = command(fresh_database, carrier.settings, tmp_path, "--since", hour_ago)
    assert described["carriers"][0]["campaignContacts"] == 1
    described = command(fresh_database, carrier.settings, tmp_path, "--since", hour_ago, fails=True)
    assert described["error"].startswith("Calling isn't paused.")
    with fresh_database.transaction(read_only=True) as session:
        (call,) = session.scalars(select(Call))
        rows = session.execute(select(OutreachContact.status, OutreachContact.call_id)).all()
    assert (call.phone_number, call.status) == ("+12125550001", CallStatus.COMPLETED)
    assert [tuple(row) for row in rows] == [(OutreachStatus.CALLED, call.id)]


def test_a_trunk_has_no_list_and_the_simulated_carrier_has_one(
    fresh_database: Database, tmp_path: Path
) -> None:
    calling_organization = create_calling_organization(fresh_database)
    calling_organization.dial(fresh_database, "+12125551000")
    calling_organization.dial(fresh_database, "+12125552000", carrier=CarrierKind.SIP)
    numbers = {"to_number": "+12125551000", "from_number": "+12025550199"}
    with fresh_database.transaction() as session:
        pauses.pause(session, system_caller("tests"), pauses.PauseScope(), "restored by hand")
        session.add(SimulatedCall(reference=str(new_id()), placed_at=utcnow(), **numbers))
    settings = settings_for(url_of(fresh_database), tmp_path, sip_trunk="127.0.0.1:9")
    runner = create_app(settings, fresh_database).test_cli_runner()
    hour_ago = f"{utcnow() - timedelta(hours=1):%Y-%m-%d %H:%M:%S}"
    lines = runner.invoke(args=["calls", "reconcile", "--since", hour_ago]).output.splitlines()
    assert lines[1:] == [
        (
            "simulator: listed: 1; written down for waiting calls: 1, for campaign contacts: 0; "
            "without a record here: 0"
        ),
        "sip: No list of calls: it keeps none. Check its calls yourself.",
        "Calling stays paused. After your check: flask --app wsgi calls reconcile --resume",
    ]
    with fresh_database.transaction(read_only=True) as session:
        assert len(pauses.listing(session)) == 1
