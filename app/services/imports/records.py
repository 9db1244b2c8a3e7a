"""What is kept of each row of a file, and of each problem at its cells."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from app.errors import Problem
from app.services.contacts.results import CREATED, DELETED, UPDATED
from app.services.contacts.stored import Said
from app.services.imports.call_refusals import SAID_OF_KEPT
from app.services.imports.contact_cells import Note
from app.services.imports.duplicates import notes_on
from app.services.imports.mapping import MappedRow, Mapping
from app.services.imports.reading import Row
from app.services.imports.rows import column_of, field_of

_APPLIED = frozenset({CREATED, UPDATED, DELETED})
_KEPT = frozenset({CREATED, UPDATED})
_NO_PHONE = Note(None, "no_phone", "This contact has no phone number, so it can't be called.")


class Record(NamedTuple):
    """A row as it is kept, and the problems at its cells."""

    row: dict[str, Any]
    problems: list[dict[str, Any]]


def record(
    import_id: UUID,
    row: Row,
    mapped: MappedRow,
    mapping: Mapping,
    outcome: str,
    problems_found: Sequence[Problem],
    ignored_code: str | None,
    again: tuple[Said, Said] | None,
) -> Record:
    """What is kept of a row. ``problems_found`` are those of its contact, ``again`` is there where
    an earlier row is about it too."""
    if outcome in _APPLIED:
        if again:
            mapped.warnings += notes_on(*again)
        if outcome == CREATED and "phone" not in mapped.contact:
            mapped.warnings.append(_NO_PHONE)
    if outcome not in _KEPT:
        mapped.warnings = [note for note in mapped.warnings if note.code not in SAID_OF_KEPT]
    problems: list[dict[str, Any]] = []
    code, reason = ignored_code, None
    if mapped.errors or problems_found:
        problems = _errors(row, mapped, mapping, problems_found)
    if problems:
        code, reason = problems[0]["code"], problems[0]["reason"]
    problems += [_noted(note, mapping) | {"is_warning": True} for note in mapped.warnings]
    for position, problem in enumerate(problems):
        problem |= {
            "import_id": import_id,
            "row_number": row.number,
            "position": position,
        }
    return Record(
        {
            "import_id": import_id,
            "row_number": row.number,
            "cells": _storable(row.cells),
            "contact": None if mapped.errors else mapped.contact,
            "outcome": outcome,
            "code": code,
            "reason": reason,
            "assumed_country": mapped.assumed_country and outcome in _APPLIED,
        },
        problems,
    )


def _errors(
    row: Row, mapped: MappedRow, mapping: Mapping, problems_found: Sequence[Problem]
) -> list[dict[str, Any]]:
    problems = [_noted(note, mapping) | {"repair": note.repair} for note in mapped.errors]
    noted = {problem["field"] for problem in problems}
    for found in problems_found:
        if found.field not in noted:
            column = column_of(found, row.cells, mapped.contact, mapping)
            problems.append(problem_values(column, found.code, found.message, found.field))
    return problems


def _storable(cells: list[str]) -> list[str]:
    """PostgreSQL takes no NUL."""
    if "\0" not in "".join(cells):
        return cells
    return [cell.replace("\0", "\ufffd") for cell in cells]


def _noted(note: Note, mapping: Mapping) -> dict[str, Any]:
    field_name = field_of(note.column, mapping)
    return problem_values(note.column, note.code, note.message, field_name, reason=note.reason)


def problem_values(
    column: int | None, code: str, message: str, field_name: str | None, *, reason: str = ""
) -> dict[str, Any]:
    """A problem's columns, but for the row and the place in it."""
    return {
        "column_index": column,
        "code": code,
        "reason": reason or None,
        "field": field_name[:100] if field_name else None,
        "message": message[:500],
        "is_warning": False,
        "repair": None,
    }
