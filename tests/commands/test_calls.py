"""Operators list stuck calls, resolve them, pause calling and drain the queue."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from flask import Flask
from sqlalchemy import select

from app.database import Database
from app.enums import AnsweredBy, CallStatus
from app.factory import install_extensions
from app.gateways.carriers.base import CallPlacement
from app.gateways.carriers.simulator import SIMULATED_NUMBERS, SimulatedCarrier
from app.models import AuditEntry, Call, CallAttempt, Conversation, SimulatedCall, new_id, utcnow
from app.services.calls import attempts, claims
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.worker import (
    CallingOrganization,
    counted_conversations,
    create_calling_organization,
    read_call,
)

HUMAN = SIMULATED_NUMBERS["human"]
LONG_AGO = timedelta(hours=6)


@dataclass
class CallCommands:
    """An operator's command line over a database that others may open too."""

    app: Flask
    database: Database
    calling_organization: CallingOrganization

    def output_of(self, *words: object, fails: bool = False) -> Any:
        """What the command prints as JSON; its sentence where it fails."""
        command = ["calls", *map(str, words)]
        result = self.app.test_cli_runner().invoke(args=[*command, *([] if fails else ["--json"])])
        assert result.exit_code == int(fails), result.output
        return result.output.strip() if fails else json.loads(result.stdout)

    def called(self, number: str, status: CallStatus, *, is_placed: bool = True) -> UUID:
        """A call that was placed long ago, as the worker left it."""
        call_id, attempt_id = self.calling_organization.dial(self.database, number), new_id()
        with self.database.transaction() as session:
            claims.next_step(session, call_id, attempt_id, calls_at_once=50)
        if is_placed:
            SimulatedCarrier(self.database.engine, 0.02).place(
                CallPlacement(attempt_id, number, "", "", "")
            )
        with self.database.transaction() as session:
            call = session.get_one(Call, call_id)
            attempt = session.get_one(CallAttempt, attempt_id)
            if status is CallStatus.UNKNOWN:
                attempts.end_unknown(session, attempt_id)
            else:
                call.status = attempt.status = status
            call.started_at = attempt.started_at = utcnow() - LONG_AGO
            for ledger in session.scalars(select(SimulatedCall)):
                ledger.placed_at = utcnow() - LONG_AGO
        return call_id

    def waiting(self, number: str, **changes: Any) -> UUID:
        call_id = self.calling_organization.dial(self.database, number)
        with self.database.transaction() as session:
            for name, value in changes.items():
                setattr(session.get_one(Call, call_id), name, value)
        return call_id


@pytest.fixture
def commands(
    make_app: Callable[..., Flask], fresh_database: Database, tmp_path: Path
) -> CallCommands:
    app = make_app()
    install_extensions(app, settings_for(url_of(fresh_database), tmp_path), fresh_database)
    return CallCommands(app, fresh_database, create_calling_organization(fresh_database))


def test_only_stuck_overdue_and_unknown_calls_are_listed(commands: CallCommands) -> None:
    other = CallCommands(
        commands.app, commands.database, create_calling_organization(commands.database, name="Idle")
    )
    commands.waiting("+12125551001")
    commands.waiting("+12125551002", status=CallStatus.SCHEDULED, scheduled_for=utcnow() + LONG_AGO)
    stuck = commands.called("+12125551003", CallStatus.RINGING)
    unknown = commands.called("+12125551004", CallStatus.UNKNOWN)
    overdue = other.waiting("+12125551005", created_at=utcnow() - LONG_AGO)
    found = commands.output_of("list")
    assert [(each["reason"], each["callId"], each["organization"]) for each in found] == [
        ("unknown", str(unknown), "Harbour Dental"),
        ("stuck", str(stuck), "Harbour Dental"),
        ("overdue", str(overdue), "Idle"),
    ]
    assert commands.output_of("status") == {
        "pauses": [],
        "waiting": 3,
        "held": 0,
        "carrierRetry": 0,
        "underWay": {"dialing": 0, "ringing": 1, "in-progress": 0},
        "unknown": 1,
        "stuck": 1,
        "overdue": 1,
    }


def test_the_status_without_pauses_says_so(commands: CallCommands) -> None:
    status = commands.app.test_cli_runner().invoke(args=["calls", "status"])
    assert status.stdout.splitlines()[0] == "No pause."


@pytest.mark.parametrize(
    ("status", "number", "placed", "ended"),
    [
        (CallStatus.UNKNOWN, HUMAN, True, ("completed", "completed")),
        (CallStatus.UNKNOWN, SIMULATED_NUMBERS["voicemail"], True, ("completed", "voicemail")),
        (CallStatus.UNKNOWN, SIMULATED_NUMBERS["busy"], True, ("busy", "busy")),
        (CallStatus.UNKNOWN, HUMAN, False, ("failed", "carrier_error")),
        (CallStatus.RINGING, HUMAN, True, ("completed", "completed")),
        (CallStatus.DIALING, HUMAN, False, ("failed", "carrier_error")),
    ],
)
@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_answer_of_the_carrier_settles_a_call(
    commands: CallCommands, status: CallStatus, number: str, placed: bool, ended: tuple[str, str]
) -> None:
    call_id = commands.called(number, status, is_placed=placed)
    output_of = commands.output_of("resolve", call_id)
    assert (output_of["status"], output_of["endedReason"]) == ended
    conversations = [] if ended[0] != "completed" else [(1, number == HUMAN, number != HUMAN)]
    assert (
        counted_conversations(commands.database, commands.calling_organization.organization_id)
        == conversations
    )
    again = commands.output_of("resolve", call_id, fails=True)
    assert again == f"Error: The call has ended: {ended[0]}."
    with commands.database.transaction(read_only=True) as session:
        audited = session.scalars(
            select(AuditEntry.after).where(AuditEntry.action == "call.resolved")
        ).all()
    assert audited == [{"status": ended[0], "reason": "reported by the carrier"}]


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_an_operator_settles_a_call_if_the_carrier_can_not(commands: CallCommands) -> None:
    call_id = commands.called(SIMULATED_NUMBERS["busy"], CallStatus.UNKNOWN)
    with commands.database.transaction() as session:
        row = session.scalars(select(SimulatedCall)).one()
        row.to_number = SIMULATED_NUMBERS["unsure"]
    assert commands.output_of("resolve", call_id, fails=True).startswith(
        "Error: The carrier can't identify"
    )
    assert (
        commands.output_of("resolve", call_id, "--as", "busy", fails=True)
        == "Error: Say why: --reason."
    )
    words = ("resolve", call_id, "--as", "completed", "--reason", "She told us on the phone.")
    assert commands.output_of(*words)["status"] == "completed"
    call = read_call(commands.database, call_id)
    assert (call.answered_by, call.status_detail) == (
        AnsweredBy.UNKNOWN,
        "command line: She told us on the phone.",
    )
    with commands.database.transaction(read_only=True) as session:
        assert session.scalars(select(Conversation.seconds)).all() == [0]


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_call_in_progress_is_left_alone(commands: CallCommands) -> None:
    waits = commands.waiting("+12125551001")
    sentence = "Error: The call is queued. There is nothing to resolve."
    assert commands.output_of("resolve", waits, fails=True) == sentence
    cancel = ("resolve", waits, "--as", "canceled", "--reason", "No longer wanted.")
    assert commands.output_of(*cancel, fails=True) == sentence
    late = commands.waiting("+12125551002", created_at=utcnow() - LONG_AGO)
    busy = ("resolve", late, "--as", "busy", "--reason", "I think so.")
    assert commands.output_of(*busy, fails=True).startswith("Error: The call was never placed")
    assert commands.output_of("resolve", late)["status"] == "queued"
    assert commands.output_of("resolve", uuid4(), fails=True) == "Error: There is no such call."


def test_calling_is_paused_and_resumed_for_all_a_carrier_or_a_partner(
    commands: CallCommands,
) -> None:
    partner = str(commands.calling_organization.partner_id)
    commands.output_of("pause", "--reason", "A storm.")
    commands.output_of("pause", "--reason", "A great storm.")
    commands.output_of("pause", "--carrier", "twilio")
    commands.output_of("pause", "--partner", partner)
    pauses = commands.output_of("status")["pauses"]
    assert [(each["carrier"], each["partnerId"], each["reason"]) for each in pauses] == [
        (None, None, "A great storm."),
        ("twilio", None, "paused by an operator"),
        (None, partner, "paused by an operator"),
    ]
    assert commands.output_of("resume")["resumed"] is True
    assert commands.output_of("resume") == {"resumed": False, "pauses": pauses[1:]}
    assert commands.output_of("resume", "--carrier", "twilio")["pauses"] == pauses[2:]
    assert commands.output_of("resume", "--partner", partner)["pauses"] == []
    no_one = commands.output_of("pause", "--partner", uuid4(), fails=True)
    assert no_one == "Error: There is no such partner."
    with commands.database.transaction(read_only=True) as session:
        actions = session.scalars(
            select(AuditEntry.action)
            .where(AuditEntry.target_type == "dialling")
            .order_by(AuditEntry.id)
        ).all()
    assert actions == [*["dialling.paused"] * 4, *["dialling.resumed"] * 3]


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_draining_pauses_and_prints_what_is_left(commands: CallCommands) -> None:
    commands.waiting("+12125551001")
    assert commands.output_of("drain")["waiting"] == 1
    commands.output_of("resume")
    commands.called("+12125551003", CallStatus.IN_PROGRESS)
    left = commands.output_of("drain", "--timeout", "1", fails=True)
    assert "1 in-progress" in left
    assert commands.output_of("status")["pauses"][0]["reason"] == "drained for a deploy"
