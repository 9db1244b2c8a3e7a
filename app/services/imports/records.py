"""The rows and problems of an import as they are stored, written in bulk."""

from collections.abc import Iterable, Sequence
from collections.abc import Mapping as Dictionary
from itertools import chain, islice
from typing import Any, NamedTuple, cast
from uuid import UUID

import orjson
from psycopg import Connection as Psycopg
from sqlalchemy import (
    JSON,
    Boolean,
    Connection,
    Integer,
    Table,
    Uuid,
    delete,
    func,
    select,
    text,
)
from sqlalchemy.orm import Session

from app.contact_files import FileRow
from app.errors import Problem, Sentence
from app.models import ImportBlock, ImportChange, ImportCorrection, ImportProblem, ImportRow
from app.services.contacts import consent
from app.services.contacts.contact_index import RowIdentity
from app.services.contacts.results import CREATED, DELETED, UPDATED
from app.services.imports.cells import CellNote, storable
from app.services.imports.do_not_call_columns import DO_NOT_CALL_WARNINGS
from app.services.imports.kinds import NO_PHONE, UNCHANGED
from app.services.imports.mapping import HeaderMapping, MappedRow, TargetField

_OF_A_REFUSAL = frozenset({consent.KEY, consent.SOURCE_KEY})
_APPLIED = frozenset({CREATED, UPDATED, DELETED})
_KEPT = frozenset({CREATED, UPDATED})
_NO_PHONE = Sentence.gettext("This contact has no phone number, so it can't be called.")
_SAME_CONTACT = Sentence.gettext("The same contact as row %(row)s, which it updates.")
_REPEATED = Sentence.gettext("Repeats row %(row)s and changes nothing.")
_SAME_PHONE = Sentence.gettext("Row %(row)s has this phone too, with other details.")
_SAME_EMAIL = Sentence.gettext("Row %(row)s has this email too, with other details.")
BESIDES_VALUES = {ImportRow: 125, ImportProblem: 135, ImportChange: 150}
"""Bytes of a row in its table and indexes besides its texts, as measured by benchmarks.bad_files on
both databases."""
_ROW_BATCH = 100
"""Rows per statement on SQLite: more are no faster."""
StoredByRow = ImportProblem | ImportCorrection | ImportBlock | ImportRow
Written = type[ImportRow] | type[ImportProblem] | type[ImportChange]


def field_of(column: int | None, mapping: HeaderMapping) -> str | None:
    """Return the contact's field that a column becomes, by its name in the API."""
    if column is None or column >= len(mapping.targets):
        return None
    target = mapping.targets[column]
    match target.field:
        case TargetField.METADATA | TargetField.COUNTRY_CODE:
            return f"contactMetadata.{target.key or mapping.header[column]}"
        case TargetField.EXTERNAL_ID:
            return "externalIdValue"
        case _:
            return str(target.field)


def column_of(
    problem: Problem, cells: Sequence[str], contact: Dictionary[str, Any], mapping: HeaderMapping
) -> int | None:
    """Return the column at which a problem of a contact's field is shown."""
    name, _, key = problem.field.partition(".")
    match name:
        case "phone":
            ids = [index for index, _ in mapping.external_ids]
            return _first_column(
                _filled_columns(mapping.phones, cells), mapping.phones, mapping.emails, ids
            )
        case "email":
            email = contact.get("email")
            same = [i for i in mapping.emails if cells[i].strip() == email]
            return _first_column(same, mapping.emails)
        case "externalIdKey" | "externalIdValue":
            columns = [index for index, _ in mapping.external_ids]
            pair = [index for index, field in mapping.singles if field == name]
            return _first_column(pair, _filled_columns(columns, cells), columns)
        case "contactMetadata":
            of_key = [index for index, metadata_key in mapping.metadata if metadata_key == key]
            by_header = [mapping.header.index(key)] if key in mapping.header else []
            refusal = mapping.do_not_call if key in _OF_A_REFUSAL else []
            return _first_column(of_key, by_header, _filled_columns(refusal, cells))
        case _:
            single = [index for index, field in mapping.singles if field == name]
            return _first_column(single, mapping.full_names)


def _filled_columns(columns: Sequence[int], cells: Sequence[str]) -> list[int]:
    return [index for index in columns if cells[index].strip()]


def _first_column(*choices: Sequence[int]) -> int | None:
    return next((columns[0] for columns in choices if columns), None)


def notes_on(
    earlier: RowIdentity, row: RowIdentity, *, is_unchanged: bool = False
) -> list[CellNote]:
    """Return the warnings for an applied row whose contact an ``earlier`` row had too;
    ``is_unchanged`` if it changes nothing."""
    number = earlier.row_number
    sentence = _REPEATED if is_unchanged else _SAME_CONTACT
    notes = [CellNote(None, "duplicate", sentence(row=number))]
    if not _identify_differently(earlier, row):
        return notes
    if row.phone and row.phone == earlier.phone:
        notes.append(CellNote(None, "duplicate_phone", _SAME_PHONE(row=number)))
    if row.email_key and row.email_key == earlier.email_key:
        notes.append(CellNote(None, "duplicate_email", _SAME_EMAIL(row=number)))
    return notes


def earlier_row(message: str) -> int | None:
    """Return the number of the earlier row that a duplicate updates, by its stored message."""
    values = _SAME_CONTACT.values_in(message)
    return int(values["row"]) if values else None


def _identify_differently(earlier: RowIdentity, row: RowIdentity) -> bool:
    """Return whether the two rows identify their contact differently."""
    pairs = zip(earlier[1:], row[1:], strict=True)
    return any(earlier_value and value and earlier_value != value for earlier_value, value in pairs)


class RowRecord(NamedTuple):
    """A row as it is stored, and the problems at its cells."""

    row: dict[str, Any]
    problems: list[dict[str, Any]]


def record(
    import_id: UUID,
    row: FileRow,
    mapped: MappedRow,
    mapping: HeaderMapping,
    outcome: str,
    problems_found: Sequence[Problem],
    code: str | None,
    again: tuple[RowIdentity, RowIdentity] | None,
) -> RowRecord:
    """Return a row as it is stored. ``problems_found`` are those of its contact; ``again`` is set
    if an earlier row has the same contact."""
    if outcome in _APPLIED:
        if again:
            mapped.warnings += notes_on(*again, is_unchanged=code == UNCHANGED)
        if outcome == CREATED and "phone" not in mapped.contact:
            mapped.warnings.append(CellNote(None, NO_PHONE, _NO_PHONE()))
    if mapped.warnings and outcome not in _KEPT:
        mapped.warnings = [
            note for note in mapped.warnings if note.code not in DO_NOT_CALL_WARNINGS
        ]
    problems: list[dict[str, Any]] = []
    reason = None
    if mapped.errors or problems_found:
        problems = _collect_errors(row, mapped, mapping, problems_found)
    if problems:
        code, reason = problems[0]["code"], problems[0]["reason"]
    if mapped.warnings:
        problems += [_note_values(note, mapping) | {"is_warning": True} for note in mapped.warnings]
    for position, problem in enumerate(problems):
        problem |= {
            "import_id": import_id,
            "row_number": row.number,
            "position": position,
        }
    return RowRecord(
        {
            "import_id": import_id,
            "row_number": row.number,
            "cells": row.cells if mapped.ordinary else list(map(storable, row.cells)),
            "contact": None if mapped.errors else mapped.contact,
            "outcome": outcome,
            "code": code,
            "reason": reason,
            "assumed_country": mapped.assumed_country and outcome in _APPLIED,
        },
        problems,
    )


def _collect_errors(
    row: FileRow, mapped: MappedRow, mapping: HeaderMapping, problems_found: Sequence[Problem]
) -> list[dict[str, Any]]:
    problems = [_note_values(note, mapping) | {"repair": note.repair} for note in mapped.errors]
    noted_fields = {problem["field"] for problem in problems}
    for row_problem in problems_found:
        if row_problem.field not in noted_fields:
            column = column_of(row_problem, row.cells, mapped.contact, mapping)
            problems.append(
                problem_values(column, row_problem.code, row_problem.message, row_problem.field)
            )
    return problems


def _note_values(note: CellNote, mapping: HeaderMapping) -> dict[str, Any]:
    field_name = field_of(note.column, mapping)
    return problem_values(note.column, note.code, note.message, field_name, reason=note.reason)


def problem_values(
    column: int | None, code: str, message: str, field_name: str | None, *, reason: str = ""
) -> dict[str, Any]:
    """Return the columns of a problem, except its row and its position there."""
    return {
        "column_index": column,
        "code": code,
        "reason": reason or None,
        "field": field_name[:100] if field_name else None,
        "message": message[:500],
        "is_warning": False,
        "repair": None,
    }


def insert_rows(session: Session, model: Written, rows: Sequence[dict[str, Any]]) -> int:
    """Insert rows that all have the same columns, bypassing the ORM, which is several times slower.
    Columns without a value in any row are left out, because binding empty values takes long. Return
    the approximate bytes stored."""
    if not rows:
        return 0
    table = cast(Table, model.__table__)
    names = [name for name in rows[0] if any(row[name] is not None for row in rows)]
    columns = [_driver_values(table, name, [row[name] for row in rows]) for name in names]
    connection = session.connection()
    if connection.dialect.name == "sqlite":
        sql = f"INSERT INTO {table.name} ({', '.join(names)}) VALUES "  # noqa: S608 - names of our own columns
        placeholders = f"({', '.join('?' * len(names))})"
        stored_rows = iter(zip(*columns, strict=True))
        while chunk := list(islice(stored_rows, _ROW_BATCH)):
            values = tuple(chain.from_iterable(chunk))
            connection.exec_driver_sql(sql + ", ".join([placeholders] * len(chunk)), values)
    else:
        _copy_into(connection, table.name, ", ".join(names), columns)
    texts = sum(
        sum(map(len, filter(None, column)))
        for name, column in zip(names, columns, strict=True)
        if not isinstance(table.columns[name].type, (Boolean, Integer))
    )
    return texts + len(rows) * BESIDES_VALUES[model]


def delete_some(
    session: Session, import_id: UUID, models: Iterable[type[StoredByRow]], at_once: int
) -> bool:
    """Delete the rows of these models with the next ``at_once`` row numbers of an import; return
    False when none are left."""
    deleted = False
    for model in models:
        of_import = model.import_id == import_id
        first = session.scalar(select(func.min(model.row_number)).where(of_import))
        if first is not None:
            deleted = True
            session.execute(delete(model).where(of_import, model.row_number < first + at_once))
    return deleted


def analyze_rows(session: Session) -> None:
    """Update PostgreSQL's statistics of rows and problems.

    Until its own next update it plans for a handful of them, and sorts the whole file for each page
    or batch.
    """
    _analyze(session, "import_rows, import_problems")


def analyze_contacts(session: Session) -> None:
    """Update PostgreSQL's statistics of contacts during a large import; else it scans the whole
    campaign for each batch."""
    _analyze(session, "contacts, contact_external_ids")


def _analyze(session: Session, tables: str) -> None:
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text(f"ANALYZE (SKIP_LOCKED) {tables}"))


def _copy_into(connection: Connection, table: str, names: str, columns: list[list[Any]]) -> None:
    """COPY the rows into a temporary table first, because PostgreSQL refuses it under row-level
    security.

    Each connection keeps the temporary tables, which its commits empty.
    """
    temporary = f"new_{table}"
    of_all = f"SELECT * FROM {table} WITH NO DATA"  # noqa: S608 - the name of our own table
    connection.exec_driver_sql(
        f"CREATE TEMPORARY TABLE IF NOT EXISTS {temporary} ON COMMIT DELETE ROWS AS {of_all}"
    )
    driver = cast(Psycopg, connection.connection.driver_connection)
    statement = f"COPY {temporary} ({names}) FROM STDIN"
    with driver.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        for row in zip(*columns, strict=True):
            copy.write_row(row)
    connection.exec_driver_sql(
        f"INSERT INTO {table} ({names}) SELECT {names} FROM {temporary}"  # noqa: S608 - as above
    )
    connection.exec_driver_sql(f"DELETE FROM {temporary}")  # noqa: S608 - as above


def _driver_values(table: Table, name: str, values: list[Any]) -> list[Any]:
    """Return the values of one column as both drivers accept them."""
    kind = table.columns[name].type
    if isinstance(kind, Uuid):
        if values.count(values[0]) == len(values):  # the import's own id
            return [_hex(values[0])] * len(values)
        return [_hex(value) for value in values]
    if isinstance(kind, Boolean):
        return list(map(int, values))  # faster to bind
    if isinstance(kind, JSON):
        return [None if value is None else orjson.dumps(value).decode() for value in values]
    return values


def _hex(identifier: UUID | str) -> str:
    return identifier.hex if isinstance(identifier, UUID) else identifier.replace("-", "")
