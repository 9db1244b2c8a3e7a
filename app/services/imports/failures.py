"""The rows of a checked upload as they go back to the person: their own columns and one more.

What is written of them can be mended in a spreadsheet and uploaded again: the added column is
known and left out.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import ContactImport, ImportProblem, ImportRow
from app.services.contacts.results import FAILED, IGNORED
from app.services.imports.kinds import IGNORED as IGNORED_KINDS

PROBLEM_COLUMN = "Problem"
CHUNK = 1000


class MarkedRow(NamedTuple):
    """The cells of a row, and the indexes of those that something is wrong with."""

    cells: list[str]
    marked: frozenset[int] = frozenset()


def header(upload: ContactImport) -> MarkedRow:
    """The names of the columns."""
    return MarkedRow(_with_problem(upload, upload.columns, PROBLEM_COLUMN))


def are_those_of(session: Session, upload: ContactImport) -> bool:
    """Whether the rows that are kept are still those of the check that the upload had when it was
    loaded."""
    query = select(ContactImport.checked_at).where(ContactImport.id == upload.id)
    return session.scalar(query) == upload.checked_at


def rows_after(
    session: Session, upload: ContactImport, row_number: int, *, failed_only: bool
) -> tuple[list[MarkedRow], int | None]:
    """The next rows behind a row number, and the number to go on from; None at the end."""
    query = select(ImportRow).where(
        ImportRow.import_id == upload.id, ImportRow.row_number > row_number
    )
    if failed_only:
        query = query.where(ImportRow.outcome == FAILED)
    rows = session.scalars(query.order_by(ImportRow.row_number).limit(CHUNK)).all()
    if not rows:
        return [], None
    problems = session.scalars(
        select(ImportProblem)
        .where(ImportProblem.import_id == upload.id, ~ImportProblem.is_warning)
        .where(ImportProblem.row_number.between(rows[0].row_number, rows[-1].row_number))
        .order_by(ImportProblem.row_number, ImportProblem.position)
    )
    of_rows = {
        number: list(of_row)
        for number, of_row in groupby(problems, key=lambda problem: problem.row_number)
    }
    found = [_marked(upload, row, of_rows.get(row.row_number, [])) for row in rows]
    return found, rows[-1].row_number if len(rows) == CHUNK else None


def _marked(upload: ContactImport, row: ImportRow, problems: Sequence[ImportProblem]) -> MarkedRow:
    words = " ".join(_said(upload, problem) for problem in problems)
    if row.outcome == IGNORED and row.code in IGNORED_KINDS:
        words = f"Ignored: {IGNORED_KINDS[row.code].title}"
    columns = frozenset(p.column_index for p in problems if p.column_index is not None)
    return MarkedRow(_with_problem(upload, row.cells, words), columns)


def _said(upload: ContactImport, problem: ImportProblem) -> str:
    if problem.column_index is None:
        return problem.message
    return f"{upload.columns[problem.column_index]}: {problem.message}"


def _with_problem(upload: ContactImport, cells: Sequence[str], problem: str) -> list[str]:
    """The cells with the reason behind the last column, in place of an older one; cells too
    many stay behind it."""
    width = len(upload.columns)
    own = width - 1 if upload.columns[-1] == PROBLEM_COLUMN else width
    return [*cells[:own], problem, *cells[width:]]
