"""What applying an open file would do, row by row, worked out without writing anything.

The file is read once, as a stream. A few hundred rows at a time become contacts and go through
`contacts.Rehearsal`, which plans them as `contacts.apply` does, so that the check is the result
by construction. The steps, in order: `prepare`, then `Trial.chunks` with `Trial.records` for
each.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, Self
from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import ContactAction
from app.errors import Problem
from app.models import Campaign, ColumnMapping
from app.services import contacts
from app.services.contacts.incoming import MISSING_IDENTIFIER
from app.services.contacts.results import CREATED, DELETED, FAILED, IGNORED, UPDATED
from app.services.contacts.rules import Rules, load_rules
from app.services.imports.corrections import LEFT_OUT, Corrections, mended
from app.services.imports.failures import PROBLEM_COLUMN
from app.services.imports.mapping import Field, MappedRow, Mapping, Target, columns_hash
from app.services.imports.reading import ReadOptions, Row, Table, UnreadableFile
from app.services.imports.records import Record, record
from app.services.imports.rows import Plan, read_row
from app.services.imports.suggesting import contradicted, suggest_for, suggested

CHUNK = 1000
SAMPLES = 3
_SAMPLE_LENGTH = 100

MappedRows = Sequence[tuple[Row, MappedRow]]


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be done with a file: into which campaign, and what a person chose about it."""

    campaign_id: UUID
    action: ContactAction
    options: ReadOptions = field(default_factory=ReadOptions)
    columns: Sequence[str] = ()
    mapping: Sequence[str] = ()
    repairs: frozenset[str] = frozenset()
    region: str | None = None
    phone_order: Sequence[int] = ()
    by_hand: bool = False
    corrections: Corrections = field(default_factory=dict)


def prepare(session: Session, order: Order, table: Table) -> "Trial":
    """Decides how the columns become fields: as chosen, as chosen last time, or by their names
    (by their values where they have none). Raises `UnreadableFile` (``duplicate_columns``)."""
    campaign = session.get_one(Campaign, order.campaign_id)
    rules = load_rules(session, campaign)
    header, phone_order = table.header, order.phone_order
    if order.mapping and list(order.columns) == list(header):
        chosen = order.mapping
    else:
        chosen, phone_order = _remembered(session, order.campaign_id, header), ()
        if chosen and table.header_is_made and contradicted(table, rules, chosen):
            chosen = []
    targets = [Target.parse(text) for text in chosen] or suggest_for(table, rules)
    how = Plan(
        Mapping(header, targets, phone_order),
        order.region or rules.default_region,
        order.repairs,
        rules.keys,
        by_hand=order.by_hand or (bool(chosen) and targets != suggested(table, rules)),
    )
    return Trial(table, how, rules, order, campaign.revision)


def _remembered(session: Session, campaign_id: UUID, header: Sequence[str]) -> list[str]:
    """What was chosen for these columns last time, or for a file that comes back with the column
    of its problems; empty for new ones."""
    found = session.get(ColumnMapping, (campaign_id, columns_hash(header)))
    if found is not None or header[-1] != PROBLEM_COLUMN:
        return found.mapping if found else []
    found = session.get(ColumnMapping, (campaign_id, columns_hash(header[:-1])))
    return [*found.mapping, str(Target(Field.IGNORE))] if found else []


class Trial:
    """Use it in a ``with`` block, or close it.

    ``counts`` are the five counts so far, ``rows`` their sum, ``samples`` the first rows and
    ``revision`` the campaign's when it began.
    """

    def __init__(self, table: Table, how: Plan, rules: Rules, order: Order, revision: int):
        self.table = table
        self.how = how
        self.revision = revision
        self.counts = Counter(dict.fromkeys((CREATED, UPDATED, DELETED, IGNORED, FAILED), 0))
        self.rows = 0
        self.samples: list[list[str]] = []
        self._assumed_country = 0
        self._rehearsal = contacts.Rehearsal(rules, order.action)
        self._corrections = order.corrections

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._rehearsal.close()

    def chunks(self) -> Iterator[MappedRows]:
        """The rows of the file and what they become. Raises `UnreadableFile`."""
        read = self._read if self._corrections else partial(read_row, plan=self.how)
        mapped = ((row, read(row)) for row in self._rows())
        while chunk := list(islice(mapped, CHUNK)):
            if not self.rows:
                self.samples = [
                    [cell[:_SAMPLE_LENGTH] for cell in row.cells] for row, _ in chunk[:SAMPLES]
                ]
            self.rows += len(chunk)
            yield chunk
        if not self.rows:
            raise UnreadableFile("no_rows")

    def records(self, session: Session, import_id: UUID, chunk: MappedRows) -> list[Record]:
        """What is to be kept of each row of the next chunk, in a transaction that only reads.

        Rows with errors are looked at too: all that is wrong with a row is said at once.
        """
        corrected = self._corrections.keys() & {row.number for row, _ in chunk}
        left_out = set(filter(self._leaves_out, corrected))
        good = [
            (row.number, mapped.contact)
            for row, mapped in chunk
            if not mapped.errors and row.number not in left_out
        ]
        numbers = [number for number, _ in good]
        result = self._rehearsal.apply(session, [contact for _, contact in good], numbers)
        outcomes = dict(zip(numbers, result.outcomes, strict=True))
        ignored = {entry["index"]: entry["code"] for entry in result.ignored}
        outcomes |= dict.fromkeys(left_out, IGNORED)
        ignored |= dict.fromkeys(left_out, LEFT_OUT)
        records = []
        for row, mapped in chunk:
            number = row.number
            outcome = outcomes.get(number, FAILED)
            self.counts[outcome] += 1
            self._assumed_country += mapped.assumed_country and outcome != FAILED
            problems = result.problems.get(number, ())
            if mapped.errors and not row.problem:
                problems = self._further_problems(mapped)
            records.append(
                record(
                    import_id,
                    row,
                    mapped,
                    self.how.mapping,
                    outcome,
                    problems,
                    ignored.get(number),
                    result.again.get(number),
                )
            )
        return records

    def found(self) -> dict[str, Any]:
        """How the file was read, as `ContactImport.found` keeps it. Complete after the last
        chunk; ``noteRows`` has how many rows a warning is about, 0 for none in particular."""
        table, notes = self.table, self._notes()
        return {
            "encoding": table.encoding,
            "delimiter": table.delimiter,
            "sheet": table.sheet,
            "sheets": list(table.sheets),
            "headerRow": table.header_row_number,
            "mappedBy": "hand" if self.how.by_hand else "auto",
            "notes": list(notes),
            "noteRows": notes,
            "skipped": table.skipped,
        }

    def _notes(self) -> dict[str, int]:
        table = self.table
        notes = dict.fromkeys(table.notes, 0)
        for kind, rows in {
            "title_rows": len(table.title_rows),
            "footer_rows": table.footer_rows,
            "hidden_rows": table.hidden_rows,
            "assumed_country": self._assumed_country,
        }.items():
            if rows:
                notes[kind] = rows
        if self.how.shortened_keys:
            notes["key_too_long"] = 0
        return notes

    def _rows(self) -> Iterator[Row]:
        if not self._corrections:
            return self.table.rows()
        width, corrections = len(self.table.header), self._corrections
        return (
            mended(row, corrections[row.number], width) if row.number in corrections else row
            for row in self.table.rows()
        )

    def _read(self, row: Row) -> MappedRow:
        return MappedRow() if self._leaves_out(row.number) else read_row(row, self.how)

    def _leaves_out(self, number: int) -> bool:
        correction = self._corrections.get(number)
        return correction is not None and correction.skipped

    def _further_problems(self, mapped: MappedRow) -> Sequence[Problem]:
        found = self._rehearsal.read(mapped.contact)
        if not isinstance(found, list):
            return ()
        return [problem for problem in found if problem.code != MISSING_IDENTIFIER.code]
