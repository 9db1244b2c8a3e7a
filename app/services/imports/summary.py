"""The result of a file as one JSON object, for scripts: its shape is in docs/contact-files.md.

The object is written piece by piece, so that a file of any length needs little memory.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, field
from heapq import merge
from itertools import chain, repeat
from operator import itemgetter
from typing import Any

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import ContactImport, ImportProblem, ImportRow
from app.services.contacts.results import CREATED, DELETED, FAILED, IGNORED, UPDATED
from app.services.imports.kinds import WARNINGS
from app.services.imports.mapping import ColumnTarget, TargetField
from app.services.imports.packing import next_block
from app.services.imports.preview import ImportPreview

COUNTERS = (CREATED, UPDATED, DELETED, IGNORED, "skipped", FAILED)
ASSUMED_COUNTRY = "assumed_country"
_TITLES = "title_rows"
_BATCH_SIZE = 1000
_MAX_BLANK_ROWS = 10_000

RowSummary = dict[str, Any]
Skipped = Sequence[Any]
"""First and last row number and kind, see `app.contact_files.table.SkippedRows`."""


@dataclass(slots=True)
class ImportSummary:
    """How a file was read, and its results except for the rows.

    ``found`` is as in `ContactImport.found`. The warnings are complete when all rows were
    `counted`.
    """

    kind: str | None
    found: dict[str, Any]
    columns: Sequence[str]
    mapping: Sequence[str]
    counts: Dictionary[str, int]
    skipped: int
    row_warnings: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, upload: ContactImport) -> "ImportSummary":
        return cls(
            kind=upload.file_kind,
            found=upload.found,
            columns=upload.columns,
            mapping=upload.mapping,
            counts={name: getattr(upload, name) for name in COUNTERS if name != "skipped"},
            skipped=upload.rows_skipped,
        )

    @classmethod
    def of_preview(cls, planned: ImportPreview) -> "ImportSummary":
        """Return the summary of a preview that has read its whole file."""
        table = planned.table
        return cls(
            kind=table.kind,
            found=planned.found(),
            columns=table.header,
            mapping=[str(target) for target in planned.settings.mapping.targets],
            counts=planned.counts,
            skipped=table.blank_rows + table.footer_rows,
        )

    def counted(self, rows: Iterable[RowSummary]) -> Iterator[RowSummary]:
        """Yield the rows, and count their warnings."""
        for row in rows:
            for kind in row["warnings"]:
                self.row_warnings[kind] = self.row_warnings.get(kind, 0) + 1
            yield row

    def counters(self) -> dict[str, int]:
        return {name: self.skipped if name == "skipped" else self.counts[name] for name in COUNTERS}

    def read(self) -> RowSummary:
        return {
            "type": self.kind,
            "encoding": self.found["encoding"],
            "delimiter": self.found["delimiter"],
            "headerRow": self.found["headerRow"],
            "sheet": self.found["sheet"],
            "mappedBy": self.found["mappedBy"],
            "mapping": self.fields(),
        }

    def fields(self) -> dict[str, list[str]]:
        """Return the columns of each field, external id or metadata key."""
        fields: dict[str, list[str]] = {}
        for name, text in zip(self.columns, self.mapping, strict=True):
            target = ColumnTarget.parse(text)
            if target.field is not TargetField.IGNORE:
                key = target.key if target.field is TargetField.METADATA else str(target)
                fields.setdefault(key, []).append(name)
        return fields

    def warnings(self) -> list[RowSummary]:
        """Return each kind of warning with its number of rows, None if it is about the file."""
        about_file = {
            kind: rows or None
            for kind, rows in self.found["noteRows"].items()
            if kind not in self.row_warnings
        }
        return [
            {"kind": kind, "rows": rows, "message": str(WARNINGS[kind].rule)}
            for kind, rows in (about_file | self.row_warnings).items()
        ]


def summarize_row(
    row: Dictionary[str, Any], problems: Iterable[Dictionary[str, Any]], columns: Sequence[str]
) -> RowSummary:
    number, outcome, code = row["row_number"], row["outcome"], row["code"]
    warnings: dict[str, None] = {}
    errors = []
    for problem in problems:
        if problem["is_warning"]:
            warnings[problem["code"]] = None
        else:
            errors.append(
                {
                    "kind": problem["code"],
                    "column": _column_name(problem["column_index"], columns),
                    "message": problem["message"],
                }
            )
    if row["assumed_country"]:
        warnings[ASSUMED_COUNTRY] = None
    summary: RowSummary = {
        "row": number,
        "is": "accepted",
        "action": None,
        "contact": None,
        "warnings": list(warnings),
        "errors": errors,
        "kind": None,
    }
    if outcome == FAILED:
        summary["is"] = "error"
    elif outcome == IGNORED:
        summary |= {"is": "ignored", "kind": code}
    else:
        summary |= {"action": outcome, "contact": _as_stored(row["contact"])}
    return summary


def _as_stored(contact: RowSummary) -> RowSummary:
    """Return the contact without the metadata that the row removes."""
    metadata = contact.get("contactMetadata")
    if not metadata or None not in metadata.values():
        return contact
    remaining = {key: value for key, value in metadata.items() if value is not None}
    return contact | {"contactMetadata": remaining}


def _column_name(index: int | None, columns: Sequence[str]) -> str | None:
    return columns[index] if index is not None and index < len(columns) else None


def with_skipped(rows: Iterable[RowSummary], skipped: Iterable[Skipped]) -> Iterator[RowSummary]:
    """Yield the rows with data and those without, in the order of the file.

    Lines above the column names are not listed: the warning ``title_rows`` counts them.
    """
    without: Iterator[RowSummary] = (
        {
            "row": number,
            "is": "skipped",
            "action": None,
            "contact": None,
            "warnings": [],
            "errors": [],
            "kind": kind,
        }
        for number, kind in _list_skipped(sorted(skipped, key=itemgetter(0)))
    )
    return merge(rows, without, key=itemgetter("row"))


def _list_skipped(skipped: Iterable[Skipped]) -> Iterator[tuple[int, str | None]]:
    """Yield footers, and blank rows up to a limit: a sheet can have a million rows with formatting
    only."""
    remaining = _MAX_BLANK_ROWS
    for first, last, kind in skipped:
        if kind is None:
            numbers = range(first, last + 1)[:remaining]
            remaining -= len(numbers)
            yield from ((number, kind) for number in numbers)
        elif kind != _TITLES:
            yield from ((number, kind) for number in range(first, last + 1))


def as_json(summary: ImportSummary, rows: Iterable[RowSummary]) -> Iterator[bytes]:
    """Yield the object of a file that was read, in pieces."""
    head = {
        "outcome": "read",
        "refusal": None,
        "read": summary.read(),
        "counters": summary.counters(),
    }
    yield orjson.dumps(head)[:-1] + b',"rows":['
    separators = chain((b"",), repeat(b","))
    for separator, row in zip(separators, summary.counted(rows), strict=False):
        yield separator + orjson.dumps(row)
    yield b'],"warnings":' + orjson.dumps(summary.warnings()) + b"}\n"


def refusal_as_json(kind: str, row: int | None, message: str) -> bytes:
    """Return the object of a file that was refused."""
    refused: RowSummary = {
        "outcome": "refused",
        "refusal": {"kind": kind, "row": row, "message": message},
        "read": None,
        "counters": None,
        "rows": [],
        "warnings": [],
    }
    return orjson.dumps(refused) + b"\n"


def kept_rows(session: Session, upload: ContactImport, after: int) -> list[RowSummary]:
    """Return the next rows of an upload after a row number, packed ones included; empty at the
    end."""
    packed, block_end = next_block(session, upload, after)
    row_query = (
        select(
            ImportRow.row_number,
            ImportRow.outcome,
            ImportRow.code,
            ImportRow.contact,
            ImportRow.assumed_country,
        )
        .where(ImportRow.import_id == upload.id, ImportRow.row_number > after)
        .order_by(ImportRow.row_number)
        .limit(_BATCH_SIZE)
    )
    if block_end is not None:
        row_query = row_query.where(ImportRow.row_number <= block_end)
    rows: list[Any] = [*session.execute(row_query).mappings()]
    last = rows[-1]["row_number"] if len(rows) == _BATCH_SIZE else block_end
    problems: dict[int, list[Any]] = defaultdict(list)
    for entry in packed:
        if last is None or entry.number <= last:
            problems[entry.number] += entry.problems
            if entry.row is not None:
                rows.append(entry.row)
    if not rows:
        return []
    rows.sort(key=itemgetter("row_number"))
    query = (
        select(
            ImportProblem.row_number,
            ImportProblem.column_index,
            ImportProblem.code,
            ImportProblem.message,
            ImportProblem.is_warning,
        )
        .where(ImportProblem.import_id == upload.id)
        .where(ImportProblem.row_number.between(rows[0]["row_number"], rows[-1]["row_number"]))
        .order_by(ImportProblem.row_number, ImportProblem.position)
    )
    for problem in session.execute(query).mappings():
        problems[problem["row_number"]].append(problem)
    return [summarize_row(row, problems.get(row["row_number"], ()), upload.columns) for row in rows]
