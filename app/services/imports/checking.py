"""The check of an uploaded file: what applying it would do, row by row, without doing it.

The file is read twice as a stream. First every good row becomes a contact and all of them go
through `contacts.apply` at once as a dry run, so that the check is the result by construction;
then each row is kept with its outcome, a few hundred in a transaction.
The steps, in order: `begin`, `forget_rows` until it is done, `plan`, `read`, `try_out`,
`records` with `keep` for each chunk, `finish`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from app.enums import ContactAction, ImportState
from app.errors import Problem
from app.models import (
    Campaign,
    ColumnMapping,
    ContactImport,
    ImportProblem,
    ImportRow,
    utcnow,
)
from app.services import contacts
from app.services.contacts.incoming import MISSING_IDENTIFIER, Reader
from app.services.contacts.results import FAILED, IGNORED, BulkResult
from app.services.contacts.rules import load_rules
from app.services.imports.duplicates import Seen
from app.services.imports.mapping import (
    Mapping,
    Target,
    columns_hash,
)
from app.services.imports.reading import Limits, ReadOptions, Table, UnreadableFile
from app.services.imports.records import Record, record
from app.services.imports.rows import Plan, read_row
from app.services.imports.suggesting import suggest_for

CHUNK = 500
MAX_ROWS = 250_000
"""More would not fit beside other work in a worker's memory."""
SAMPLES = 3
_SAMPLE_LENGTH = 100
_FORGET_AT_ONCE = 5000
"""Row numbers, not rows: a check that is repeated removes what the one before has kept."""


class Superseded(Exception):
    """Another run has taken over this check, or the upload was cancelled: nothing is written."""


@dataclass(frozen=True, slots=True)
class Task:
    """A check that has begun, as far as it is needed outside a transaction."""

    import_id: UUID
    run: UUID
    campaign_id: UUID
    action: ContactAction
    file_key: str
    file_name: str
    options: ReadOptions
    columns: list[str]
    mapping: list[str]
    repairs: frozenset[str]


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


def begin(session: Session, import_id: UUID, check_number: int) -> Task | None:
    """Takes over the check; None where a later one was asked for, or none any more."""
    query = select(ContactImport).where(ContactImport.id == import_id).with_for_update()
    found = session.scalars(query).one_or_none()
    if found is None or found.check_number != check_number:
        return None
    if found.state not in (ImportState.UPLOADED, ImportState.READING):
        return None
    found.state, found.check_run, found.rows_total = ImportState.READING, uuid4(), 0
    options = found.read_options
    return Task(
        import_id=found.id,
        run=found.check_run,
        campaign_id=found.campaign_id,
        action=found.action,
        file_key=found.file_key,
        file_name=found.file_name,
        options=ReadOptions(
            encoding=options.get("encoding"),
            delimiter=options.get("delimiter"),
            header_row=options.get("headerRow"),
            sheet=options.get("sheet"),
            limits=Limits(rows=MAX_ROWS),
        ),
        columns=found.columns,
        mapping=found.mapping,
        repairs=frozenset(found.repairs),
    )


def forget_rows(session: Session, task: Task) -> bool:
    """Removes some of the rows that an earlier check has kept; False where there are no more."""
    _held(session, task)
    forgotten = False
    for kept in (ImportProblem, ImportRow):
        first = session.scalar(
            select(func.min(kept.row_number)).where(kept.import_id == task.import_id)
        )
        if first is not None:
            forgotten = True
            session.execute(
                delete(kept)
                .where(kept.import_id == task.import_id)
                .where(kept.row_number < first + _FORGET_AT_ONCE)
            )
    return forgotten


def plan(session: Session, task: Task, table: Table) -> Plan:
    """How the columns become fields: as chosen, as chosen last time, or by their names (by their
    values where they have none). Raises `UnreadableFile` (``duplicate_columns``)."""
    campaign = session.get_one(Campaign, task.campaign_id)
    rules = load_rules(session, campaign)
    header = table.header
    if task.mapping and task.columns == list(header):
        chosen = task.mapping
    else:
        remembered = session.get(ColumnMapping, (task.campaign_id, columns_hash(header)))
        chosen = remembered.mapping if remembered else []
    targets = [Target.parse(text) for text in chosen] or suggest_for(table, rules)
    return Plan(Mapping(header, targets), rules.default_region, task.repairs, rules.keys)


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


def try_out(session: Session, task: Task, reading: Reading) -> Verdict:
    """The dry run of all good rows, in a transaction that only reads.

    Rows with errors are looked at too: all that is wrong with a row is said at once.
    """
    campaign = session.get_one(Campaign, task.campaign_id)
    revision = campaign.revision
    result = contacts.apply(
        session,
        campaign,
        reading.contacts,
        task.action,
        dry_run=True,
        row_numbers=reading.numbers,
    )
    reader = Reader(
        load_rules(session, campaign), None, removing=task.action is ContactAction.REMOVE
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


def records(table: Table, how: Plan, task: Task, verdict: Verdict) -> Iterator[list[Record]]:
    """The second pass: what is kept of each row, in chunks for `keep`."""
    seen = Seen(how.keys)
    kept = (
        record(
            task.import_id,
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


def keep(session: Session, task: Task, chunk: Sequence[Record]) -> None:
    """Writes a chunk of rows. Raises `Superseded`."""
    found = _held(session, task)
    session.execute(insert(ImportRow), [record.row for record in chunk])
    problems = [problem for record in chunk for problem in record.problems]
    if problems:
        session.execute(insert(ImportProblem), problems)
    found.rows_total += len(chunk)


def finish(
    session: Session, task: Task, table: Table, how: Plan, reading: Reading, verdict: Verdict
) -> None:
    """The check is over: its counts and how the file was read. Raises `Superseded`."""
    found = _held(session, task)
    found.state, found.checked_at, found.failure = ImportState.CHECKED, utcnow(), None
    found.file_kind = table.kind
    notes = file_notes(table, how, reading, verdict)
    found.found = {
        "encoding": table.encoding,
        "delimiter": table.delimiter,
        "sheet": table.sheet,
        "sheets": list(table.sheets),
        "headerRow": table.header_row_number,
        "notes": list(notes),
        "noteRows": notes,
        "skipped": table.skipped,
    }
    found.columns = list(table.header)
    found.samples = reading.samples
    found.mapping = [str(target) for target in how.mapping.targets]
    found.rows_total = reading.rows
    found.rows_skipped = table.blank_rows + table.footer_rows
    found.campaign_revision = verdict.revision
    for name, count in verdict.counts.items():
        setattr(found, name, count)


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


def fail(
    session: Session,
    import_id: UUID,
    check_number: int,
    sentence: str,
    refusal: UnreadableFile | None = None,
) -> None:
    """The check can't be done, for the reason that the sentence says. Nothing was changed."""
    query = select(ContactImport).where(ContactImport.id == import_id).with_for_update()
    found = session.scalars(query).one_or_none()
    unfinished = (ImportState.UPLOADED, ImportState.READING)
    if found and found.check_number == check_number and found.state in unfinished:
        found.state, found.failure, found.finished_at = ImportState.FAILED, sentence, utcnow()
        found.check_run = None
        if refusal is not None:
            found.found = {"refusal": {"kind": refusal.code, "row": refusal.row}}


def _held(session: Session, task: Task) -> ContactImport:
    query = select(ContactImport).where(ContactImport.id == task.import_id).with_for_update()
    found = session.scalars(query).one_or_none()
    if found is None or found.check_run != task.run or found.state is not ImportState.READING:
        raise Superseded
    return found
