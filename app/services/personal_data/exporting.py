"""The export of a person: a ZIP of JSON files, one per table, with the recordings.

It is requested and written like the export of a list; its content comes from the inventory.
"""

import json
import logging
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any
from urllib.parse import parse_qs, urlencode
from uuid import UUID

from sqlalchemy import ColumnElement, Select, Table, and_, case, func, null, select, union_all
from sqlalchemy.orm import Session

from app.enums import ExportFormat, RecordingStatus, SubjectKind
from app.errors import NotFound
from app.gateways.files import FileStore
from app.models import Base, Call, CallRecording, ListExport
from app.policy.caller import Caller
from app.services import audit, calls, contacts, exports, users
from app.services.contacts import single_contact
from app.services.personal_data import subjects
from app.services.personal_data.inventory import HOLDINGS, NOT_PERSONAL
from app.services.personal_data.subjects import DataSubject
from app.services.personal_data.sweep import in_scope
from app.services.recordings.reading import extension_of

log = logging.getLogger(__name__)
BATCH_SIZE = 500
NAMES = {SubjectKind.USER: "user-data", SubjectKind.CONTACT: "contact-data"}
"""The names of these exports among those of lists; `exports.labels` has their titles."""


ABOUT_OTHERS = ("target_id", "target", "before", "after")
"""Fields of a history entry about another person than the user who made the change."""


@dataclass(frozen=True, slots=True)
class ExportPart:
    """The rows of a table that are about the person; of rows that aren't in ``about``, if given,
    only the person's actions."""

    table: Table
    rows: ColumnElement[bool]
    about: ColumnElement[bool] | None = None

    @property
    def columns(self) -> list[ColumnElement[Any]]:
        """Return the exported texts, and the columns that aren't texts: ids, numbers and times."""
        name = self.table.name
        declared = {
            column: holding.exported
            for holding in HOLDINGS
            if holding.table == name
            for column in holding.columns
        } | dict.fromkeys(NOT_PERSONAL.get(name, "").split(), False)
        return [
            self._masked_column(column)
            for column in self.table.c
            if declared.get(column.name, True)
        ]

    def _masked_column(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        if self.about is None or column.key not in ABOUT_OTHERS:
            return column
        return case((self.about, column), else_=null()).label(column.key)


def request(
    session: Session,
    caller: Caller,
    subject: DataSubject,
    zone: str,
    **of: UUID,
) -> ListExport:
    """Request a file with the data about a person for the caller. ``of`` locates the subject
    besides its id: the ``campaign`` of a contact, or the ``call``. Raises `NotFound` for a caller
    that isn't a user, and `Conflict` (``too_many_exports``)."""
    ids = urlencode({"id": subject.subject_id, **of})
    export_input = exports.ExportInput(NAMES[subject.kind], ids, ExportFormat.ZIP, zone)
    export = exports.create(session, caller, export_input)
    record(session, caller, subject)
    return export


def record(session: Session, caller: Caller, subject: DataSubject) -> None:
    """Record in the history whose data was exported."""
    audit.record(
        session,
        caller,
        action=f"{subject.kind}.exported",
        target_type=subject.kind.value,
        target_id=subject.subject_id,
        partner_id=subject.partner_id,
        organization_id=subject.organization_id,
    )


def subject_of(session: Session, caller: Caller, name: str, query: str) -> DataSubject:
    """Return the subject of a requested export. Raises `Forbidden` and `NotFound`."""
    ids = {key: UUID(values[0]) for key, values in parse_qs(query).items()}
    if name == NAMES[SubjectKind.USER]:
        return subjects.user(session, caller, ids["id"])
    if "call" in ids:
        return subjects.of_call(session, caller, ids["call"])
    if name == NAMES[SubjectKind.CONTACT]:
        return subjects.contact(session, caller, ids["campaign"], ids["id"])
    raise NotFound


def name_of(session: Session, caller: Caller, name: str, query: str) -> str | None:
    """Return the name or address of the person of a requested export; None for a person that the
    caller can't see any more."""
    ids = {key: UUID(values[0]) for key, values in parse_qs(query).items()}
    try:
        if "call" in ids:
            call = calls.get(session, caller, ids["call"])
            return None if call.is_erased else call.name or call.phone_number
        if name == NAMES[SubjectKind.CONTACT]:
            return single_contact.name_of(contacts.get(session, caller, ids["campaign"], ids["id"]))
        user = users.get(session, caller, ids["id"])
    except NotFound:
        return None
    return user.name or user.email


def write(session: Session, subject: DataSubject, files: FileStore) -> tuple[IO[bytes], int]:
    """Return a temporary file with the ZIP, and the number of rows in it; without recordings whose
    files are lost."""
    rows = 0
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in parts(subject):
            with archive.open(f"{part.table.name}.json", "w") as out:
                rows += _write_rows(out, _read_rows(session, part))
        for recording in _stored_recordings(session, subject):
            ending = extension_of(recording.content_type or "")
            name = f"recordings/{recording.call_id}.{ending}"
            try:
                sound = files.open(recording.file_key)
            except FileNotFoundError:
                log.warning("recording %s has no file and is left out of an export", recording.id)
                continue
            with sound, archive.open(name, "w") as out:
                shutil.copyfileobj(sound, out)
    file.seek(0)
    return file, rows


def parts(subject: DataSubject) -> list[ExportPart]:
    """Return the tables of the export and which of their rows are about the person."""
    tables = Base.metadata.tables
    history = tables["audit_entries"]
    targets = [str(each) for each in (subject.subject_id, *subject.contacts)]
    is_about_subject = and_(
        history.c.target_type == subject.kind.value, history.c.target_id.in_(targets)
    )
    if subject.kind is SubjectKind.CONTACT:
        calls = select(Call.id).where(subject.called())
        do_not_call, contacts = tables["do_not_call"], tables["contacts"]
        of_contact = tables["contact_external_ids"]
        is_own_contact = and_(
            contacts.c.organization_id == subject.organization_id,
            contacts.c.id.in_(subject.contacts),
        )
        return [
            ExportPart(contacts, is_own_contact),
            ExportPart(of_contact, of_contact.c.contact_id.in_(subject.contacts)),
            ExportPart(
                do_not_call,
                and_(in_scope(do_not_call, subject), do_not_call.c.phone.in_(subject.phones)),
            ),
            ExportPart(tables["calls"], subject.called()),
            *(
                ExportPart(tables[name], tables[name].c.call_id.in_(calls))
                for name in ("call_attempts", "call_events", "call_recordings", "call_transcripts")
            ),
            ExportPart(history, and_(in_scope(history, subject), is_about_subject)),
        ]
    # Not a single "or", for which the databases read the whole history.
    entry_ids = union_all(
        select(history.c.id).where(is_about_subject),
        select(history.c.id).where(history.c.actor_id == subject.subject_id),
    )
    return [
        ExportPart(tables["users"], tables["users"].c.id == subject.subject_id),
        *(
            ExportPart(tables[name], tables[name].c.user_id == subject.subject_id)
            for name in (
                "portal_sessions",
                "email_changes",
                "passkeys",
                "user_identities",
                "scim_users",
                "saved_views",
                "mails",
            )
        ),
        ExportPart(
            history, and_(in_scope(history, subject), history.c.id.in_(entry_ids)), is_about_subject
        ),
    ]


def row_counts(subject: DataSubject) -> dict[str, Select[int]]:
    """Return the queries that count the rows of each table that are about the person."""
    return {
        part.table.name: select(func.count()).select_from(part.table).where(part.rows)
        for part in parts(subject)
    }


def _stored_recordings(session: Session, subject: DataSubject) -> Sequence[CallRecording]:
    if subject.kind is SubjectKind.USER:
        return ()
    calls = select(Call.id).where(subject.called())
    query = select(CallRecording).where(
        CallRecording.status == RecordingStatus.STORED, CallRecording.call_id.in_(calls)
    )
    return session.scalars(query).all()


def _read_rows(session: Session, part: ExportPart) -> Iterator[dict[str, Any]]:
    query = select(*part.columns).where(part.rows).order_by(*part.table.primary_key.columns)
    for row in session.execute(query.execution_options(yield_per=BATCH_SIZE)).mappings():
        yield dict(row)


def _write_rows(out: IO[bytes], rows: Iterator[dict[str, Any]]) -> int:
    number = 0
    out.write(b"[")
    for row in rows:
        out.write(b",\n" if number else b"\n")
        out.write(json.dumps(row, default=str, ensure_ascii=False).encode())
        number += 1
    out.write(b"\n]\n")
    return number
