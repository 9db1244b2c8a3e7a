"""The rows of a checked upload for screens and downloads.

Screens show them grouped by problem, page by page. The download is a corrected-file template: the
user's own columns, in the format of the file, with one more column for the problem. It can be fixed
in a spreadsheet and uploaded again; the added column is recognized and ignored.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from app.contact_files.writing import UTF_8, DelimitedWriter, MarkedRow, RowWriter, WorkbookWriter
from app.errors import translate_stored
from app.languages import gettext
from app.models import ContactImport, ImportCorrection, ImportProblem, ImportRow
from app.services.contacts.results import FAILED, IGNORED, UPDATED
from app.services.imports.kinds import COUNTRY_NOT_OPEN, UNCHANGED
from app.services.imports.kinds import IGNORED as IGNORED_KINDS
from app.services.imports.mapping import PROBLEM_COLUMN, problem_column
from app.services.imports.packing import next_block, packed_kinds, packed_notes

CHUNK = 1000


def header(upload: ContactImport) -> MarkedRow:
    return MarkedRow(_with_problem(upload, upload.columns, PROBLEM_COLUMN))


def are_those_of(session: Session, upload: ContactImport) -> bool:
    """Return whether the stored rows are still all those of the check that the upload had when it
    was loaded."""
    query = select(ContactImport.checked_at).where(
        ContactImport.id == upload.id,
        ContactImport.rows_forgotten_at.is_(None),
        ContactImport.deletion_requested_at.is_(None),
    )
    return session.scalar(query) == upload.checked_at


def rows_after(
    session: Session, upload: ContactImport, row_number: int, *, failed_only: bool
) -> tuple[list[MarkedRow], int | None]:
    """Return the next rows after a row number, packed ones included, and the number to continue
    from; None at the end."""
    query = select(ImportRow).where(
        ImportRow.import_id == upload.id, ImportRow.row_number > row_number
    )
    if failed_only:
        query = query.where(ImportRow.outcome == FAILED)
    packed, block_end = next_block(session, upload, row_number)
    if block_end is not None:
        query = query.where(ImportRow.row_number <= block_end)
    rows = [*session.scalars(query.order_by(ImportRow.row_number).limit(CHUNK))]
    end = rows[-1].row_number if len(rows) == CHUNK else block_end
    of_rows: dict[int, list[ImportProblem]] = defaultdict(list)
    if rows:
        problems = session.scalars(
            select(ImportProblem)
            .where(ImportProblem.import_id == upload.id, ~ImportProblem.is_warning)
            .where(ImportProblem.row_number.between(rows[0].row_number, rows[-1].row_number))
            .order_by(ImportProblem.row_number, ImportProblem.position)
        )
        for problem in problems:
            of_rows[problem.row_number].append(problem)
    for entry in packed:
        if entry.row is None or (end is not None and entry.number > end):
            continue
        if entry.row["outcome"] == FAILED or not failed_only:
            rows.append(ImportRow(**entry.row))
            errors = (values for values in entry.problems if not values["is_warning"])
            of_rows[entry.number] = [ImportProblem(**values) for values in errors]
    rows.sort(key=attrgetter("row_number"))
    return [_mark_row(upload, row, of_rows[row.row_number]) for row in rows], end


def _mark_row(
    upload: ContactImport, row: ImportRow, problems: Sequence[ImportProblem]
) -> MarkedRow:
    message = " ".join(_problem_message(upload, problem) for problem in problems)
    if row.outcome == IGNORED and row.code in IGNORED_KINDS:
        message = gettext("Ignored: %(reason)s", reason=IGNORED_KINDS[row.code].title)
    columns = frozenset(p.column_index for p in problems if p.column_index is not None)
    return MarkedRow(_with_problem(upload, row.cells, message), columns)


def _problem_message(upload: ContactImport, problem: ImportProblem) -> str:
    if problem.column_index is None:
        return translate_stored(problem.message)
    return f"{upload.columns[problem.column_index]}: {translate_stored(problem.message)}"


def _with_problem(upload: ContactImport, cells: Sequence[str], problem: str) -> list[str]:
    """Return the cells with the problem after the last column, replacing an older one; extra cells
    follow it."""
    added = problem_column(upload.columns)
    if added is None:
        added = len(upload.columns)
        return [*cells[:added], problem, *cells[added:]]
    return [*cells[:added], problem, *cells[added + 1 :]]


def ending_of(upload: ContactImport) -> str:
    """Return xlsx or csv: the format of the download."""
    return "xlsx" if upload.file_kind in ("xlsx", "xls") else "csv"


def writer_of(session: Session, upload: ContactImport) -> RowWriter:
    """Return the writer for the format, encoding and delimiter of the upload's file."""
    if ending_of(upload) == "xlsx":
        return WorkbookWriter(upload.found.get("sheet") or "")
    encoding = upload.found.get("encoding") or UTF_8
    if encoding == "utf-8" or not _holds_all(session, upload, encoding):
        encoding = UTF_8
    return DelimitedWriter(upload.found.get("delimiter") or ",", encoding)


def _holds_all(session: Session, upload: ContactImport, encoding: str) -> bool:
    """Return whether the file's encoding has every character of its rows, typed ones included."""
    unreadable = select(ImportProblem.row_number).where(
        ImportProblem.import_id == upload.id, ImportProblem.code == "undecodable_text"
    )
    if "undecodable_text" in (upload.packed or {}).get("codes", ()):
        return False
    if session.scalar(unreadable.limit(1)) is not None:
        return False
    corrections = session.scalars(
        select(ImportCorrection.cells).where(ImportCorrection.import_id == upload.id)
    )
    try:
        for cells in corrections:
            "".join(cells.values()).encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


class ProblemKind(NamedTuple):
    """Rows with the same problem (or the same note)."""

    code: str
    reason: str | None
    rows: int


class SuggestedRepair(NamedTuple):
    """A suggested repair of one kind of damage, with the first row that it would fix."""

    code: str
    reason: str
    rows: int
    row_number: int
    value: str
    repaired: str


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row with the user's own values, and its contact; problems in order. ``code`` is why it
    failed or is ignored."""

    number: int
    cells: list[str]
    contact: dict[str, Any] | None
    outcome: str
    code: str | None
    problems: list[ImportProblem]


@dataclass(frozen=True, slots=True)
class RowPage:
    """A page of rows; ``next_number`` is the row after which the next page starts, None at the
    end."""

    rows: list[ShownRow]
    next_number: int | None


def failed_kinds(session: Session, upload: ContactImport) -> list[ProblemKind]:
    """Return the reasons why rows can't be applied, most frequent first; a row with several
    problems counts for each of them."""
    row, problem = ImportRow, ImportProblem
    failed = (row.import_id == upload.id) & (row.outcome == FAILED)
    rows = select(row.row_number, row.code, row.reason).where(failed)
    problems = select(problem.row_number, problem.code, problem.reason).join(row, _same_row())
    failed_rows = rows.union(problems.where(failed, ~problem.is_warning)).subquery()
    query = select(failed_rows.c.code, failed_rows.c.reason, func.count())
    query = query.group_by(failed_rows.c.code, failed_rows.c.reason)
    counts = packed_kinds(upload, FAILED)
    for code, reason, count in session.execute(query):
        counts[code or "", reason] += count
    return _most_rows_first(counts)


def note_kinds(session: Session, upload: ContactImport) -> list[ProblemKind]:
    """Return the notes on rows that are applied, most frequent first."""
    rows = func.count(ImportRow.row_number.distinct())
    query = (
        select(ImportProblem.code, rows)
        .join(ImportRow, _same_row())
        .where(ImportProblem.import_id == upload.id, ImportProblem.is_warning)
        .where(ImportRow.outcome != FAILED)
        .group_by(ImportProblem.code)
    )
    counts = packed_notes(upload)
    for code, count in session.execute(query):
        counts[code] += count
    return _most_rows_first(Counter({(code, None): count for code, count in counts.items()}))


def closed_regions(session: Session, upload: ContactImport) -> Counter[str]:
    """Count the listed rows that are applied with a number of each region that wasn't open for
    calls."""
    query = (
        select(ImportProblem.reason, func.count())
        .join(ImportRow, _same_row())
        .where(ImportProblem.import_id == upload.id, ImportProblem.is_warning)
        .where(ImportRow.outcome != FAILED, ImportProblem.code == COUNTRY_NOT_OPEN)
        .where(ImportProblem.reason.is_not(None))
        .group_by(ImportProblem.reason)
    )
    return Counter({region or "": count for region, count in session.execute(query)})


def first_notes(
    session: Session, upload: ContactImport, code: str, limit: int
) -> list[tuple[int, str]]:
    """Return the first listed rows that are applied with such a note: row number and stored
    message."""
    query = (
        select(ImportProblem.row_number, ImportProblem.message)
        .join(ImportRow, _same_row())
        .where(ImportProblem.import_id == upload.id, ImportProblem.is_warning)
        .where(ImportRow.outcome != FAILED, ImportProblem.code == code)
        .order_by(ImportProblem.row_number)
        .limit(limit)
    )
    return [(number, message) for number, message in session.execute(query)]


def ignored_kinds(session: Session, upload: ContactImport) -> list[ProblemKind]:
    """Return the reasons why rows are ignored, most frequent first."""
    query = (
        select(ImportRow.code, func.count())
        .where(ImportRow.import_id == upload.id, ImportRow.outcome == IGNORED)
        .group_by(ImportRow.code)
    )
    counts = packed_kinds(upload, IGNORED)
    for code, count in session.execute(query):
        counts[code or "", None] += count
    return _most_rows_first(counts)


def _most_rows_first(counts: Counter[tuple[str, str | None]]) -> list[ProblemKind]:
    kinds = (ProblemKind(*kind, count) for kind, count in counts.items())
    return sorted(kinds, key=lambda kind: (-kind.rows, kind.code, kind.reason or ""))


def repairs(session: Session, upload: ContactImport) -> list[SuggestedRepair]:
    """Return the repairs that a user may accept, those of most rows first."""
    problem = ImportProblem
    query = (
        select(problem.code, problem.reason, func.count(), func.min(problem.row_number))
        .where(problem.import_id == upload.id, problem.repair.is_not(None), problem.position == 0)
        .group_by(problem.code, problem.reason)
    )
    packed = (upload.packed or {}).get("repairs", ())
    by_kind = {
        (code, reason): SuggestedRepair(code, reason, *rest) for code, reason, *rest in packed
    }
    for code, reason, count, number in session.execute(query):
        row = session.get_one(ImportRow, (upload.id, number))
        first = session.get_one(ImportProblem, (upload.id, number, 0))
        value = row.cells[first.column_index or 0]
        kind = code, reason or ""
        rows = count + (by_kind[kind].rows if kind in by_kind else 0)
        by_kind[kind] = SuggestedRepair(*kind, rows, number, value, first.repair or "")
    return sorted(by_kind.values(), key=lambda repair: (-repair.rows, repair.reason))


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
) -> RowPage:
    """Return the rows after a row number in the order of the file: all, those of an outcome as
    `figures_of` counts it, those that failed and have a problem of a code and reason, or those with
    a note."""
    query = select(ImportRow).where(ImportRow.import_id == upload.id, ImportRow.row_number > after)
    if note is not None:
        query = _with_note(query.where(ImportRow.outcome != FAILED), note)
    elif code is not None:
        query = query.where(ImportRow.outcome == FAILED, _has_problem(code, reason))
    elif outcome is not None:
        query = query.where(_has_outcome(outcome))
    matches = session.scalars(query.order_by(ImportRow.row_number).limit(limit + 1)).all()
    rows = matches[:limit]
    problems = _problems_by_row(session, upload, [row.row_number for row in rows])
    shown_rows = [
        ShownRow(
            row.row_number,
            row.cells,
            row.contact,
            row.outcome,
            row.code,
            problems[row.row_number],
        )
        for row in rows
    ]
    return RowPage(shown_rows, rows[-1].row_number if len(matches) > limit else None)


def _has_outcome(outcome: str) -> ColumnElement[bool]:
    if outcome == UNCHANGED:
        return (ImportRow.outcome == UPDATED) & (ImportRow.code == UNCHANGED)
    if outcome == UPDATED:
        return (ImportRow.outcome == UPDATED) & ImportRow.code.is_distinct_from(UNCHANGED)
    return ImportRow.outcome == outcome


def _with_note(query: Select[ImportRow], note: str) -> Select[ImportRow]:
    return query.where(
        select(ImportProblem.row_number)
        .where(_same_row(), ImportProblem.is_warning, ImportProblem.code == note)
        .exists()
    )


def _has_problem(code: str, reason: str | None) -> ColumnElement[bool]:
    """Whether it is the row's first problem or another one."""
    row, problem = ImportRow, ImportProblem
    matching = select(problem.row_number).where(
        _same_row(),
        ~problem.is_warning,
        problem.code == code,
        problem.reason.is_not_distinct_from(reason),
    )
    return (row.code == code) & row.reason.is_not_distinct_from(reason) | matching.exists()


def _same_row() -> ColumnElement[bool]:
    return (ImportProblem.import_id == ImportRow.import_id) & (
        ImportProblem.row_number == ImportRow.row_number
    )


def _problems_by_row(
    session: Session, upload: ContactImport, numbers: Sequence[int]
) -> dict[int, list[ImportProblem]]:
    problems: dict[int, list[ImportProblem]] = defaultdict(list)
    query = (
        select(ImportProblem)
        .where(ImportProblem.import_id == upload.id, ImportProblem.row_number.in_(numbers))
        .order_by(ImportProblem.row_number, ImportProblem.position)
    )
    for problem in session.scalars(query):
        problems[problem.row_number].append(problem)
    return problems
