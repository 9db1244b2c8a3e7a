"""The history is only ever added to, and a change behind the application's back is noticed."""

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from click.testing import Result
from flask import Flask
from sqlalchemy import delete, insert, select, text, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from app.database import Database
from app.jobs import housekeeping
from app.models import AuditEntry, AuditLink, Base, Partner
from app.models.base import new_id
from app.policy.caller import system_caller
from app.services import audit
from app.services.audit import verification
from app.services.audit.chain import WITHOUT_PARTNER, digest_of, hash_of
from app.services.audit.verification import AuditVerification, BrokenChain
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.tenants import make_partner
from tests.fixtures.worker_context import worker_context

VALUES = {"calls": 3, "share": 0.5, "whole": 2.0, "names": ["Jörg", "\u2028"], "none": None}


def note(session: Session, partner_id: UUID | None, action: str = "thing.changed") -> None:
    caller = system_caller("tests", partner_id)
    audit.record(
        session, caller, action=action, target_type="thing", target_id=uuid4(), after=VALUES
    )


@pytest.fixture
def partner(session: Session) -> UUID:
    """A partner; three entries of theirs, and one without a partner, are linked."""
    made = make_partner(session).id
    session.commit()
    for _ in range(2):
        note(session, made)
        session.commit()
    note(session, None)
    session.commit()
    return made


def ids(session: Session, chain: UUID) -> list[UUID]:
    query = select(AuditLink.entry_id).where(AuditLink.chain == chain)
    return list(session.scalars(query.order_by(AuditLink.number)))


def without_walls(session: Session) -> None:
    """What an owner of the database can do."""
    on_sqlite = session.get_bind().dialect.name == "sqlite"
    for table in ("audit_entries", "audit_links"):
        if on_sqlite:
            session.execute(text(f"DROP TRIGGER {table}_refuse_update"))
            session.execute(text(f"DROP TRIGGER {table}_refuse_delete"))
        else:
            session.execute(text(f"DROP TRIGGER {table}_refuse_change ON {table}"))


@pytest.mark.parametrize("table", ["audit_entries", "audit_links"])
def test_the_database_refuses_to_change_or_delete_history(
    session: Session, partner: UUID, table: str
) -> None:
    assert ids(session, partner) != []
    rows = Base.metadata.tables[table]
    column = "actor" if table == "audit_entries" else "hash"
    for statement in (update(rows).values({column: "x"}), delete(rows)):
        with pytest.raises(DBAPIError, match="append-only"), session.begin_nested():
            session.execute(statement)


def test_every_entry_joins_the_chain_of_its_partner(session: Session, partner: UUID) -> None:
    found = session.execute(
        select(AuditLink.chain, AuditLink.number).order_by(AuditLink.chain, AuditLink.number)
    )
    created_by_the_operator = [(WITHOUT_PARTNER, 1)]
    assert [tuple(row) for row in found] == [
        *created_by_the_operator,
        *((partner, number) for number in (1, 2, 3)),
    ]
    assert verification.verify(session) == AuditVerification(chains=2, entries=4, broken=None)


def test_a_rolled_back_entry_leaves_no_gap(session: Session, partner: UUID) -> None:
    with session.begin_nested() as trial:
        note(session, partner, "thing.tried")
        trial.rollback()
    with session.begin_nested():
        note(session, partner, "thing.kept")
    session.commit()
    assert verification.verify(session) == AuditVerification(chains=2, entries=5, broken=None)


def test_a_changed_entry_is_named(session: Session, partner: UUID) -> None:
    _first, second, _third = ids(session, partner)
    without_walls(session)
    session.execute(update(AuditEntry).where(AuditEntry.id == second).values(actor="stranger"))
    broken = BrokenChain("The entry was changed", partner, 2, second)
    assert verification.verify(session) == AuditVerification(chains=2, entries=2, broken=broken)


def test_a_changed_entry_with_a_new_digest_is_named(session: Session, partner: UUID) -> None:
    first, _second, _third = ids(session, partner)
    without_walls(session)
    session.execute(update(AuditEntry).where(AuditEntry.id == first).values(actor="stranger"))
    (entry, *_rest) = verification.export(session, AuditLink.chain == partner)
    content = {k: v for k, v in entry.items() if k not in ("chain", "number", "digest", "hash")}
    digest = digest_of(content)
    forged = {"digest": digest, "hash": hash_of("", partner, 1, digest)}
    session.execute(update(AuditLink).where(AuditLink.entry_id == first).values(forged))
    broken = BrokenChain("The link was changed", partner, 2, ids(session, partner)[1])
    assert verification.verify(session) == AuditVerification(chains=2, entries=2, broken=broken)


def test_a_deleted_entry_is_named(session: Session, partner: UUID) -> None:
    _first, second, third = ids(session, partner)
    without_walls(session)
    session.execute(delete(AuditLink).where(AuditLink.entry_id == second))
    session.execute(delete(AuditEntry).where(AuditEntry.id == second))
    broken = BrokenChain("Number 2 of the chain is missing", partner, 3, third)
    assert verification.verify(session) == AuditVerification(chains=2, entries=2, broken=broken)


def test_an_entry_outside_the_chain_is_named(session: Session, partner: UUID) -> None:
    row = {"actor_kind": "user", "actor": "x", "action": "a.b", "target_type": "t"}
    planted = new_id()
    session.execute(insert(AuditEntry).values(id=planted, partner_id=partner, target_id="1", **row))
    broken = BrokenChain("The entry has no place in a chain", partner, None, planted)
    assert verification.verify(session) == AuditVerification(chains=2, entries=4, broken=broken)


def test_a_history_that_was_cut_off_is_noticed_by_an_earlier_export(
    session: Session, partner: UUID
) -> None:
    known = {
        UUID(entry["chain"]): (entry["number"], entry["hash"])
        for entry in verification.export(session)
    }
    assert verification.verify(session, known).broken is None
    *_others, last = ids(session, partner)
    without_walls(session)
    session.execute(delete(AuditLink).where(AuditLink.entry_id == last))
    session.execute(delete(AuditEntry).where(AuditEntry.id == last))
    assert verification.verify(session).broken is None
    broken = BrokenChain("The end of the known history is missing", partner, 3, None)
    assert verification.verify(session, known).broken == broken


def test_writers_at_the_same_time_share_one_chain(fresh_database: Database) -> None:
    with fresh_database.transaction() as session:
        partners = [make_partner(session, name).id for name in ("Northwind", "Acme")]

    def write(number: int) -> None:
        with fresh_database.transaction() as session:
            # Some lock one partner first and some the other: the order of the chains is their own.
            for partner_id in partners if number % 2 else reversed(partners):
                note(session, partner_id)
                session.execute(select(Partner.id)).all()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(80)))
    with fresh_database.transaction(read_only=True) as session:
        verdict = verification.verify(session)
        lengths = [len(ids(session, partner_id)) for partner_id in partners]
    assert (verdict.broken, lengths) == (None, [81, 81])


def run(app: Flask, *words: str) -> Result:
    return app.test_cli_runner().invoke(args=["audit", *words])


def test_the_commands_verify_and_export(
    app: Flask, session: Session, partner: UUID, tmp_path: Path
) -> None:
    assert run(app, "verify").output == "The history is complete: 4 entries, 2 chains.\n"
    exported = run(app, "export").output
    lines = [json.loads(line) for line in exported.splitlines()]
    assert [(line["chain"], line["number"]) for line in lines] == [
        (str(WITHOUT_PARTNER), 1),
        *((str(partner), number) for number in (1, 2, 3)),
    ]
    one = run(app, "export", "--partner", str(partner)).output
    assert [json.loads(line) for line in one.splitlines()] == lines[1:]

    kept = tmp_path / "history.jsonl"
    kept.write_text(exported)
    assert run(app, "verify", "--known", str(kept)).exit_code == 0
    kept.write_text("{}\n")
    refused = run(app, "verify", "--known", str(kept))
    message = f"Error: Line 1 of {kept} isn't a line of `flask audit export`.\n"
    assert (refused.exit_code, refused.output) == (1, message)

    *_others, last = ids(session, partner)
    without_walls(session)
    session.execute(update(AuditEntry).where(AuditEntry.id == last).values(actor="stranger"))
    session.commit()
    found = run(app, "verify")
    assert (found.exit_code, found.output) == (
        1,
        f"The entry was changed: entry {last}, chain {partner}, number 3.\n",
    )
    broken = {
        "reason": "The entry was changed",
        "chain": str(partner),
        "number": 3,
        "entryId": str(last),
    }
    as_json = json.loads(run(app, "verify", "--json").output)
    assert as_json == {"chains": 2, "entries": 3, "broken": broken}


@pytest.fixture
def syslog() -> Iterator[socket.socket]:
    """A syslog server over UDP."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(0.2)
        yield server


def received(server: socket.socket) -> list[tuple[str, int]]:
    lines: list[tuple[str, int]] = []
    while True:
        try:
            line = server.recv(65536).decode()
        except TimeoutError:
            return lines
        assert line.startswith("<86>portal-history: {")
        entry = json.loads(line.partition(": ")[2])
        lines.append((entry["chain"], entry["number"]))


def test_the_worker_sends_new_entries_to_syslog_once(
    fresh_database: Database, syslog: socket.socket, tmp_path: Path
) -> None:
    address = f"udp://127.0.0.1:{syslog.getsockname()[1]}"
    with worker_context(settings_for(url_of(fresh_database), tmp_path, audit_syslog=address)):
        with fresh_database.transaction() as session:
            partner = make_partner(session).id
            note(session, None)
        housekeeping.forward_history()
        assert received(syslog) == [(str(WITHOUT_PARTNER), 1), (str(partner), 1)]
        with fresh_database.transaction() as session:
            note(session, partner)
        housekeeping.forward_history()
        housekeeping.forward_history()
        assert received(syslog) == [(str(partner), 2)]
