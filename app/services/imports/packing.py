"""Rows and problems of a large file beyond those listed one by one, in compressed blocks.

A row of a few bytes takes a hundred times as many in a table with its problems and indexes. So only
the first rows that can't be applied are stored one by one for the screens, and the first problems.
The others are stored compressed, a chunk of the file in a block. Counts and downloads include them.
"""

import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import ContactImport, ImportBlock
from app.services.contacts.results import FAILED, IGNORED
from app.services.imports.records import RowRecord

LISTED_ROWS = 10_000
"""Maximum listed rows of a file that can't be applied."""
LISTED_ROWS_OF_KIND = 25
"""Rows of each kind of problem that are always listed: a page of them."""
LISTED_PROBLEMS = 20_000
_COMPRESSION = 2
_KEYS = frozenset({"import_id", "row_number", "contact"})
"""Keys that a block omits: rows that can't be applied need no contact."""


class PackedRow(NamedTuple):
    """``row`` has the values of an `ImportRow`; it is absent if only problems are packed.

    ``problems`` have the values of `ImportProblem`.
    """

    number: int
    row: dict[str, Any] | None
    problems: list[dict[str, Any]]


@dataclass(slots=True)
class RowPacker:
    """Decides for each row of one check whether it is listed or packed, and counts the packed."""

    rows: int = 0
    problems: int = 0
    packed_rows: int = 0
    of_kind: Counter[tuple[str | None, str | None]] = field(default_factory=Counter)
    kinds: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """Packed rows by outcome, code and reason."""
    notes: Counter[str] = field(default_factory=Counter)
    codes: set[str] = field(default_factory=set)
    repairs: dict[tuple[str, str], list[Any]] = field(default_factory=dict)

    def split(self, chunk: Sequence[RowRecord]) -> tuple[list[RowRecord], list[PackedRow]]:
        """Return the listed and the packed ones of the next rows of the file."""
        listed, packed = [], []
        for record in chunk:
            row, problems = record
            number = row["row_number"]
            if row["outcome"] not in (FAILED, IGNORED):
                if self._has_room(problems):
                    listed.append(record)
                else:
                    listed.append(RowRecord(row, []))
                    packed.append(PackedRow(number, None, problems))
                    self.notes.update({problem["code"] for problem in problems})
                continue
            kind = row["code"], row["reason"]
            is_below_limit = self.rows < LISTED_ROWS or self.of_kind[kind] < LISTED_ROWS_OF_KIND
            if is_below_limit and self._has_room(problems):
                self.rows += 1
                self.of_kind[kind] += 1
                listed.append(record)
            else:
                self._count_packed(record)
                if row["outcome"] == IGNORED:
                    self.notes.update({problem["code"] for problem in problems})
                packed.append(PackedRow(number, row, problems))
        return listed, packed

    def found(self) -> dict[str, Any] | None:
        """Return the counts of packed rows, as `ContactImport.packed` stores them."""
        if not self.packed_rows and not self.notes:
            return None
        return {
            "rows": self.packed_rows,
            "kinds": [[*kind, count] for kind, count in self.kinds.items()],
            "notes": dict(self.notes),
            "codes": sorted(self.codes),
            "repairs": [[*kind, *values] for kind, values in self.repairs.items()],
        }

    def _has_room(self, problems: Sequence[Mapping[str, Any]]) -> bool:
        if problems and self.problems + len(problems) > LISTED_PROBLEMS:
            return False
        self.problems += len(problems)
        return True

    def _count_packed(self, record: RowRecord) -> None:
        row, problems = record
        self.packed_rows += 1
        row_kind = row["code"] or "", row["reason"] or ""
        errors = [each for each in problems if not each["is_warning"]]
        problem_kinds = {(each["code"], each["reason"] or "") for each in errors}
        for kind in {row_kind} | (problem_kinds if row["outcome"] == FAILED else set()):
            self.kinds[row["outcome"], *kind] += 1
        self.codes.update(problem["code"] for problem in problems)
        if problems and problems[0]["repair"]:
            first = problems[0]
            value = row["cells"][first["column_index"] or 0]
            start = [0, row["row_number"], value, first["repair"]]
            entry = self.repairs.setdefault((first["code"], first["reason"] or ""), start)
            entry[0] += 1


def block_of(import_id: UUID, packed: Sequence[PackedRow]) -> ImportBlock:
    """Return the block that stores these rows, which follow each other in the file."""
    entries = [
        (
            entry.number,
            entry.row and _strip_keys(entry.row),
            [_strip_keys(problem) for problem in entry.problems],
        )
        for entry in packed
    ]
    return ImportBlock(
        import_id=import_id,
        row_number=packed[0].number,
        last_row=packed[-1].number,
        content=zlib.compress(orjson.dumps(entries), _COMPRESSION),
    )


def _strip_keys(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in _KEYS and value}


def next_block(
    session: Session, upload: ContactImport, after: int
) -> tuple[list[PackedRow], int | None]:
    """Return the packed rows of the next block that has rows after a row number, and its last row
    number; None if there is no such block."""
    if not upload.packed:
        return [], None
    block = session.scalar(
        select(ImportBlock)
        .where(ImportBlock.import_id == upload.id, ImportBlock.last_row > after)
        .order_by(ImportBlock.row_number)
        .limit(1)
    )
    if block is None:
        return [], None
    return [
        entry for entry in _unpack_entries(upload.id, block) if entry.number > after
    ], block.last_row


def remove_entries(
    session: Session, block: ImportBlock, is_unwanted: Callable[[Any], bool]
) -> None:
    """Delete the rows and problems of a block for which ``is_unwanted`` is true; the counts of the
    upload stay."""
    entries = orjson.loads(zlib.decompress(block.content))
    remaining = [entry for entry in entries if not is_unwanted(entry)]
    if not remaining:
        session.delete(block)
    elif len(remaining) < len(entries):
        block.content = zlib.compress(orjson.dumps(remaining), _COMPRESSION)


def _unpack_entries(import_id: UUID, block: ImportBlock) -> list[PackedRow]:
    return [
        PackedRow(
            number,
            row and _ROW | row | {"import_id": import_id, "row_number": number},
            [
                _PROBLEM
                | problem
                | {"import_id": import_id, "row_number": number, "position": position}
                for position, problem in enumerate(problems)
            ],
        )
        for number, row, problems in orjson.loads(zlib.decompress(block.content))
    ]


_ROW: dict[str, Any] = {
    "cells": [],
    "contact": None,
    "code": None,
    "reason": None,
    "assumed_country": False,
}
_PROBLEM: dict[str, Any] = {
    "column_index": None,
    "reason": None,
    "field": None,
    "is_warning": False,
    "repair": None,
}


def packed_kinds(upload: ContactImport, outcome: str) -> Counter[tuple[str, str | None]]:
    """Return how many packed rows of an outcome have each code and reason, failed ones also as a
    further problem."""
    stored = (upload.packed or {}).get("kinds", ())
    return Counter(
        {
            (code, reason or None): n
            for row_outcome, code, reason, n in stored
            if row_outcome == outcome
        }
    )


def packed_notes(upload: ContactImport) -> Counter[str]:
    """Return how many rows with packed notes have each note."""
    return Counter((upload.packed or {}).get("notes", {}))
