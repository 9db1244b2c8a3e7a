"""The export of a person holds what the inventory declares, and no one else's data."""

import json
import zipfile

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import ExportFormat, Role, SubjectKind
from app.models import AuditEntry, CallRecording, new_id
from app.services import users
from app.services.personal_data import exporting, subjects
from app.services.personal_data.inventory import HOLDINGS
from app.services.personal_data.subjects import DataSubject
from tests.fixtures.tenants import make_user
from tests.services.personal_data.stored_contact import (
    EMAIL,
    FIRST,
    LAST,
    NEIGHBOUR,
    PHONE,
    StoredContact,
)


@pytest.mark.parametrize("kind", list(SubjectKind))
def test_every_exported_column_is_in_the_export(kind: SubjectKind) -> None:
    parts = exporting.parts(DataSubject(kind, new_id(), new_id(), new_id()))
    exported = {(part.table.name, column.name) for part in parts for column in part.columns}
    declared = {
        (holding.table, column)
        for holding in HOLDINGS
        if holding.exported and holding.about == {kind}
        for column in holding.columns
    }
    assert declared <= exported
    secrets = {"password_hash", "secret", "salt", "token_hash", "public_key", "file_key"}
    assert {column for _, column in exported} & secrets == set()
    assert ("portal_sessions", "data") not in exported


def test_a_contact_is_exported_with_calls_and_recordings(
    stored_contact: StoredContact, session: Session
) -> None:
    subject = subjects.contact(
        session,
        stored_contact.admin,
        stored_contact.importer.campaign_id,
        stored_contact.contact_id,
    )
    file, rows = exporting.write(session, subject, stored_contact.files)
    with file, zipfile.ZipFile(file) as archive:
        found = {
            name: json.loads(archive.read(name))
            for name in archive.namelist()
            if name.endswith(".json")
        }
        (recording,) = set(archive.namelist()) - set(found)
        assert archive.read(recording) == f"RIFF {LAST}".encode()
    assert rows == sum(map(len, found.values()))
    assert {name.removesuffix(".json") for name, listed in found.items() if listed} == {
        *("audit_entries", "call_attempts", "call_events", "call_recordings"),
        *("call_transcripts", "calls", "contacts", "do_not_call"),
    }
    assert [(row["phone"], row["email"]) for row in found["contacts.json"]] == [
        (PHONE, EMAIL),
        (PHONE, None),
    ]
    assert found["calls.json"][0]["intro_message"] == f"Hello {FIRST}"
    assert NEIGHBOUR not in json.dumps(found)


def test_a_recording_whose_file_is_lost_is_left_out_of_the_export(
    stored_contact: StoredContact, session: Session
) -> None:
    subject = subjects.contact(
        session,
        stored_contact.admin,
        stored_contact.importer.campaign_id,
        stored_contact.contact_id,
    )
    stored_contact.files.delete(session.scalars(select(CallRecording.file_key)).one())
    file, _rows = exporting.write(session, subject, stored_contact.files)
    with file, zipfile.ZipFile(file) as archive:
        assert all(name.endswith(".json") for name in archive.namelist())
        assert len(json.loads(archive.read("call_recordings.json"))) == 1


def test_a_requested_export_is_in_the_history(
    stored_contact: StoredContact, session: Session
) -> None:
    with stored_contact.database.transaction() as own:
        subject = subjects.contact(
            own,
            stored_contact.admin,
            stored_contact.importer.campaign_id,
            stored_contact.contact_id,
        )
        export = exporting.request(
            own, stored_contact.admin, subject, "UTC", campaign=stored_contact.importer.campaign_id
        )
        assert (export.list_name, export.file_format) == ("contact-data", ExportFormat.ZIP)
        again = exporting.subject_of(own, stored_contact.admin, export.list_name, export.query)
        assert again == subject
    actions = session.scalars(select(AuditEntry.action).order_by(AuditEntry.id.desc()).limit(2))
    assert actions.all() == ["contact.exported", "list_export.requested"]


def test_the_history_of_a_user_says_nothing_about_others(
    stored_contact: StoredContact, session: Session
) -> None:
    admin, partner_id = stored_contact.admin, stored_contact.admin.partner_id
    assert admin.user_id is not None
    assert partner_id is not None
    other = make_user(session, partner_id, "other@northwind.example", Role.PARTNER_EDITOR)
    users.suspend(session, admin, other.id)
    file, _rows = exporting.write(
        session, subjects.user(session, admin, admin.user_id), stored_contact.files
    )
    with file, zipfile.ZipFile(file) as archive:
        entries = json.loads(archive.read("audit_entries.json"))
    last = entries[-1]
    assert last["actor_id"] == str(admin.user_id)
    assert [last[name] for name in exporting.ABOUT_OTHERS] == [None] * 4
    assert "other@northwind.example" not in json.dumps(entries)
