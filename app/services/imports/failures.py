"""The rows that could not be applied as a file: the person's own columns and one with the reason.

It can be mended in a spreadsheet and uploaded again: the added column is known and left out.
"""

import csv
import io
from collections.abc import Sequence
from itertools import groupby

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import ContactImport, ImportProblem, ImportRow
from app.services.contacts.results import FAILED
from app.services.imports.reading import guard_cell

PROBLEM_COLUMN = "Problem"
BYTE_ORDER_MARK = "\ufeff"
"""Spreadsheets take a CSV file for UTF-8 only with this in front."""
CHUNK = 1000


def header(upload: ContactImport) -> str:
    """The first line."""
    return BYTE_ORDER_MARK + _lines([_with_problem(upload, upload.columns, PROBLEM_COLUMN)])


def lines_after(session: Session, upload: ContactImport, row_number: int) -> tuple[str, int | None]:
    """The next failed rows behind a row number, and the number to go on from; None at the end."""
    rows = session.scalars(
        select(ImportRow)
        .where(ImportRow.import_id == upload.id, ImportRow.outcome == FAILED)
        .where(ImportRow.row_number > row_number)
        .order_by(ImportRow.row_number)
        .limit(CHUNK)
    ).all()
    if not rows:
        return "", None
    problems = session.scalars(
        select(ImportProblem)
        .where(ImportProblem.import_id == upload.id, ~ImportProblem.is_warning)
        .where(ImportProblem.row_number.between(rows[0].row_number, rows[-1].row_number))
        .order_by(ImportProblem.row_number, ImportProblem.position)
    )
    words = {
        number: " ".join(_said(upload, problem) for problem in of_row)
        for number, of_row in groupby(problems, key=lambda problem: problem.row_number)
    }
    text = _lines([_with_problem(upload, row.cells, words.get(row.row_number, "")) for row in rows])
    return text, rows[-1].row_number if len(rows) == CHUNK else None


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


def _lines(rows: Sequence[Sequence[str]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([guard_cell(cell) for cell in row] for row in rows)
    return text.getvalue()
