"""The rows of a checked file as screens show them: grouped by what is wrong, page by page."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from app.models import ContactImport, ImportProblem, ImportRow
from app.services.contacts.results import FAILED, IGNORED


class Kind(NamedTuple):
    """Rows with the same first problem (or the same note)."""

    code: str
    reason: str | None
    rows: int


class Repair(NamedTuple):
    """A proposed repair of one kind of damage, with the first row that it would mend."""

    code: str
    reason: str
    rows: int
    row_number: int
    value: str
    repaired: str


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row with the person's own values; problems in their order."""

    number: int
    cells: list[str]
    outcome: str
    problems: list[ImportProblem]


@dataclass(frozen=True, slots=True)
class Rows:
    """A page; ``next_number`` is the row to go on behind, None at the end."""

    rows: list[ShownRow]
    next_number: int | None


def failed_kinds(session: Session, upload: ContactImport) -> list[Kind]:
    """What keeps rows from being applied, most frequent first; the rows add up to those failed."""
    query = (
        select(ImportRow.code, ImportRow.reason, func.count())
        .where(ImportRow.import_id == upload.id, ImportRow.outcome == FAILED)
        .group_by(ImportRow.code, ImportRow.reason)
        .order_by(func.count().desc(), ImportRow.code, ImportRow.reason)
    )
    return [Kind(code or "", reason, count) for code, reason, count in session.execute(query)]


def note_kinds(session: Session, upload: ContactImport) -> list[Kind]:
    """What is worth knowing about rows that are applied, most frequent first."""
    rows = func.count(ImportRow.row_number.distinct())
    query = (
        select(ImportProblem.code, rows)
        .join(ImportRow, _same_row())
        .where(ImportProblem.import_id == upload.id, ImportProblem.is_warning)
        .where(ImportRow.outcome != FAILED)
        .group_by(ImportProblem.code)
        .order_by(rows.desc(), ImportProblem.code)
    )
    return [Kind(code, None, count) for code, count in session.execute(query)]


def ignored_kinds(session: Session, upload: ContactImport) -> list[Kind]:
    """Why rows are left alone, most frequent first."""
    query = (
        select(ImportRow.code, func.count())
        .where(ImportRow.import_id == upload.id, ImportRow.outcome == IGNORED)
        .group_by(ImportRow.code)
        .order_by(func.count().desc(), ImportRow.code)
    )
    return [Kind(code or "", None, count) for code, count in session.execute(query)]


def repairs(session: Session, upload: ContactImport) -> list[Repair]:
    """The repairs that a person may accept, those of most rows first."""
    problem = ImportProblem
    query = (
        select(problem.code, problem.reason, func.count(), func.min(problem.row_number))
        .where(problem.import_id == upload.id, problem.repair.is_not(None), problem.position == 0)
        .group_by(problem.code, problem.reason)
        .order_by(func.count().desc(), problem.reason)
    )
    found = []
    for code, reason, count, number in session.execute(query):
        row = session.get_one(ImportRow, (upload.id, number))
        first = session.get_one(ImportProblem, (upload.id, number, 0))
        value = row.cells[first.column_index or 0]
        found.append(Repair(code, reason or "", count, number, value, first.repair or ""))
    return found


def page(
    session: Session,
    upload: ContactImport,
    *,
    outcome: str | None = None,
    code: str | None = None,
    reason: str | None = None,
    note: str | None = None,
    after: int = 0,
    limit: int = 25,
) -> Rows:
    """Rows behind a row number in the file's order: all, those of an outcome, those that failed
    for a code and reason, or those with a note."""
    query = select(ImportRow).where(ImportRow.import_id == upload.id, ImportRow.row_number > after)
    if note is not None:
        query = _with_note(query.where(ImportRow.outcome != FAILED), note)
    elif code is not None:
        query = query.where(ImportRow.outcome == FAILED, ImportRow.code == code)
        query = query.where(ImportRow.reason.is_not_distinct_from(reason))
    elif outcome is not None:
        query = query.where(ImportRow.outcome == outcome)
    found = session.scalars(query.order_by(ImportRow.row_number).limit(limit + 1)).all()
    rows = found[:limit]
    problems = _problems(session, upload, [row.row_number for row in rows])
    shown = [
        ShownRow(row.row_number, row.cells, row.outcome, problems[row.row_number]) for row in rows
    ]
    return Rows(shown, rows[-1].row_number if len(found) > limit else None)


def _with_note(query: Select[ImportRow], note: str) -> Select[ImportRow]:
    return query.where(
        select(ImportProblem.row_number)
        .where(_same_row(), ImportProblem.is_warning, ImportProblem.code == note)
        .exists()
    )


def _same_row() -> ColumnElement[bool]:
    return (ImportProblem.import_id == ImportRow.import_id) & (
        ImportProblem.row_number == ImportRow.row_number
    )


def _problems(
    session: Session, upload: ContactImport, numbers: Sequence[int]
) -> dict[int, list[ImportProblem]]:
    found: dict[int, list[ImportProblem]] = defaultdict(list)
    query = (
        select(ImportProblem)
        .where(ImportProblem.import_id == upload.id, ImportProblem.row_number.in_(numbers))
        .order_by(ImportProblem.row_number, ImportProblem.position)
    )
    for problem in session.scalars(query):
        found[problem.row_number].append(problem)
    return found
