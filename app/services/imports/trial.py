"""What applying an open file would do, row by row, worked out without writing anything.

The file is read twice as a stream. First every good row becomes a contact and all of them go
through `contacts.apply` at once as a dry run, so that the check is the result by construction;
then each row is told with its outcome. The steps, in order: `plan`, `read`, `try_out`, `records`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import ContactAction
from app.errors import Problem
from app.models import Campaign, ColumnMapping
from app.services import contacts
from app.services.contacts.incoming import MISSING_IDENTIFIER, Reader
from app.services.contacts.results import FAILED, IGNORED, BulkResult
from app.services.contacts.rules import load_rules
from app.services.imports.duplicates import Seen
from app.services.imports.mapping import Mapping, Target, columns_hash
from app.services.imports.reading import ReadOptions, Table, UnreadableFile
from app.services.imports.records import Record, record
from app.services.imports.rows import Plan, read_row
from app.services.imports.suggesting import suggest_for

CHUNK = 500
SAMPLES = 3
_SAMPLE_LENGTH = 100


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


@dataclass(slots=True)
class Reading:
    """The contacts of a file with their row numbers, and those of rows with errors.

    ``assumed`` is 1 for each contact whose phone has no country code.
    """

    numbers: list[int] = field(default_factory=list)
    contacts: list[dict[str, Any]] = field(default_factory=list)
    faulty: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    samples: list[list[str]] = field(default_factory=list)
    rows: int = 0
    assumed: bytearray = field(default_factory=bytearray)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What applying would do: outcome, reasons for ignoring, and problems, by row number.

    ``again`` are rows whose contact is in the campaign and was that of an earlier row.
    """

    outcomes: dict[int, str]
    ignored: dict[int, str]
    problems: dict[int, Sequence[Problem]]
    counts: dict[str, int]
    revision: int
    again: frozenset[int]


def plan(session: Session, order: Order, table: Table) -> Plan:
    """How the columns become fields: as chosen, as chosen last time, or by their names (by their
    values where they have none). Raises `UnreadableFile` (``duplicate_columns``)."""
    campaign = session.get_one(Campaign, order.campaign_id)
    rules = load_rules(session, campaign)
    header = table.header
    if order.mapping and list(order.columns) == list(header):
        chosen = order.mapping
    else:
        remembered = session.get(ColumnMapping, (order.campaign_id, columns_hash(header)))
        chosen = remembered.mapping if remembered else []
    targets = [Target.parse(text) for text in chosen] or suggest_for(table, rules)
    return Plan(
        Mapping(header, targets), order.region or rules.default_region, order.repairs, rules.keys
    )


def read(table: Table, how: Plan) -> Reading:
    """The first pass. Raises `UnreadableFile`."""
    reading = Reading()
    for row in table.rows():
        reading.rows += 1
        if len(reading.samples) < SAMPLES:
            reading.samples.append([cell[:_SAMPLE_LENGTH] for cell in row.cells])
        mapped = read_row(row, how)
        if not mapped.errors:
            reading.assumed.append(mapped.assumed_country)
            reading.numbers.append(row.number)
            reading.contacts.append(mapped.contact)
        elif not row.problem:
            reading.faulty.append((row.number, mapped.contact))
    if not reading.rows:
        raise UnreadableFile("no_rows")
    return reading


def try_out(session: Session, order: Order, reading: Reading) -> Verdict:
    """The dry run of all good rows, in a transaction that only reads.

    Rows with errors are looked at too: all that is wrong with a row is said at once.
    """
    campaign = session.get_one(Campaign, order.campaign_id)
    revision = campaign.revision
    result = contacts.apply(
        session,
        campaign,
        reading.contacts,
        order.action,
        dry_run=True,
        row_numbers=reading.numbers,
    )
    reader = Reader(
        load_rules(session, campaign), None, removing=order.action is ContactAction.REMOVE
    )
    problems = dict(result.problems)
    for number, contact in reading.faulty:
        found = reader.read(contact)
        if isinstance(found, list):
            problems[number] = [p for p in found if p.code != MISSING_IDENTIFIER.code]
    counts = result.counts
    counts[FAILED] += reading.rows - len(reading.numbers)
    return Verdict(
        outcomes=dict(zip(reading.numbers, result.outcomes, strict=True)),
        ignored={entry["index"]: entry["code"] for entry in result.ignored},
        problems=problems,
        counts=counts,
        revision=revision,
        again=_again(reading.numbers, result),
    )


def _again(numbers: Sequence[int], result: BulkResult) -> frozenset[int]:
    applied = [
        number
        for number, outcome in zip(numbers, result.outcomes, strict=True)
        if outcome not in (IGNORED, FAILED)
    ]
    seen: set[str] = set()
    again = set()
    for number, success in zip(applied, result.success, strict=True):
        if (identifier := success["id"]) is None:
            continue
        if identifier in seen:
            again.add(number)
        seen.add(identifier)
    return frozenset(again)


def records(table: Table, how: Plan, verdict: Verdict, import_id: UUID) -> Iterator[list[Record]]:
    """The second pass: what is kept of each row, in chunks for `keep`."""
    seen = Seen(how.keys)
    kept = (
        record(
            import_id,
            row,
            how,
            verdict.outcomes.get(row.number, FAILED),
            verdict.problems.get(row.number, ()),
            verdict.ignored.get(row.number),
            seen,
            again=row.number in verdict.again,
        )
        for row in table.rows()
    )
    while chunk := list(islice(kept, CHUNK)):
        yield chunk


def file_notes(table: Table, how: Plan, reading: Reading, verdict: Verdict) -> dict[str, int]:
    """Warnings about the whole file -> how many rows each is about; 0 for none in particular."""
    notes = dict.fromkeys(table.notes, 0)
    flags = zip(reading.assumed, reading.numbers, strict=True)
    assumed = sum(flag for flag, number in flags if verdict.outcomes[number] != FAILED)
    for kind, rows in {
        "title_rows": len(table.title_rows),
        "footer_rows": table.footer_rows,
        "assumed_country": assumed,
    }.items():
        if rows:
            notes[kind] = rows
    if how.shortened_keys:
        notes["key_too_long"] = 0
    return notes
