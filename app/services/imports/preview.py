"""The preview of an import: the effects of applying a file, row by row, without writing anything.

`prepare` decides what each column becomes. Then, a thousand rows at a time, `ImportPreview.read`
reads rows, `map_rows` makes contacts of them, and `plan` tries those out with `contacts.DryRun`,
which plans them exactly as `contacts.apply` does.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Self
from uuid import UUID

from sqlalchemy.orm import Session

from app.contact_files import ContactTable, FileRow, ReadOptions, UnreadableFile
from app.enums import ContactAction
from app.errors import Problem, Sentence
from app.models import Campaign, ColumnMapping, Organization
from app.phone import country_name, quick_region_of
from app.schemas.checks import MAX_METADATA_KEY
from app.services import contacts, destinations
from app.services.contacts.incoming import MISSING_IDENTIFIER
from app.services.contacts.results import COUNTS, CREATED, FAILED, IGNORED, UPDATED
from app.services.contacts.rules import ContactRules, load_rules
from app.services.imports.cells import CellNote
from app.services.imports.corrections import LEFT_OUT, Corrections, corrected_row
from app.services.imports.kinds import COUNTRY_NOT_OPEN, ON_DO_NOT_CALL_LIST, UNCHANGED
from app.services.imports.mapping import (
    ColumnTarget,
    HeaderMapping,
    MappedRow,
    TargetField,
    columns_hash,
    problem_column,
)
from app.services.imports.records import RowRecord, record
from app.services.imports.rows import to_contact
from app.services.imports.suggestions import contradicts_targets, suggest_for, suggested

CHUNK = 1000
SAMPLES = 3
_SAMPLE_LENGTH = 100
REPAIRED = "repaired"
"""The warning at a cell whose damage was undone because a user accepted the fix."""
_STORED = frozenset({CREATED, UPDATED})
_KEPT_ON_THE_SIDE = frozenset(
    {TargetField.METADATA, TargetField.COUNTRY_CODE, TargetField.PHONE, TargetField.EMAIL}
)
"""Columns whose values become metadata, always or if another column counts."""


@dataclass(frozen=True, slots=True)
class MappingSettings:
    """How the rows of a file become contacts. ``repairs`` are the kinds of damage to undo, ``keys``
    the campaign's external ids and whether each identifies."""

    mapping: HeaderMapping
    default_region: str
    repairs: frozenset[str] = frozenset()
    keys: Dictionary[str, bool] = field(default_factory=dict)
    by_hand: bool = False
    """Whether a user gave the columns other targets than suggested."""

    @property
    def shortened_keys(self) -> bool:
        """Whether the name of a column was too long for a metadata key."""
        mapping = self.mapping
        keys = dict(mapping.metadata)
        return any(
            len(name) > len(keys.get(index, key)) == MAX_METADATA_KEY
            for index, (name, key) in enumerate(zip(mapping.header, mapping.keys, strict=True))
            if mapping.targets[index].field in _KEPT_ON_THE_SIDE
        )


_REPAIRED = Sentence.gettext("Repaired to %(value)s.")
_ON_LIST = Sentence.gettext("This number is on the do-not-call list, so it won't be called.")
_NOT_OPEN = Sentence.gettext(
    "This number is in %(country_words)s, which isn't open for calls, so it won't be called."
)
_MISSING = Sentence.ngettext(
    "%(num)s cell is missing at the end of the row; it counts as empty.",
    "%(num)s cells are missing at the end of the row; they count as empty.",
)
_EXTRA = Sentence.ngettext(
    "%(num)s extra empty cell at the end of the row was left out.",
    "%(num)s extra empty cells at the end of the row were left out.",
)


def map_row(row: FileRow, settings: MappingSettings) -> MappedRow:
    """Return the contact of a row. A row with a structural problem has no contact, only its
    error."""
    if row.problem:
        return MappedRow(errors=[CellNote(None, row.problem.code, row.problem.message)])
    mapped = _map_row(row, row.cells, settings)
    if not (mapped.errors and settings.repairs):
        return mapped
    accepted = {
        note.column: note
        for note in mapped.errors
        if note.column is not None and note.repair and note.reason in settings.repairs
    }
    if not accepted:
        return mapped
    cells = list(row.cells)
    for column, note in accepted.items():
        cells[column] = str(note.repair)
    repaired = _map_row(row, cells, settings)
    repaired.ordinary = mapped.ordinary  # the row is stored with its damage
    repaired.warnings += [
        CellNote(column, REPAIRED, _REPAIRED(value=note.repair), note.reason)
        for column, note in accepted.items()
    ]
    return repaired


def _map_row(row: FileRow, cells: Sequence[str], settings: MappingSettings) -> MappedRow:
    mapped = to_contact(cells, settings.mapping, settings.default_region)
    if row.missing > 0:
        mapped.warnings.append(CellNote(None, "missing_cells", _MISSING(num=row.missing)))
    elif row.missing < 0:
        mapped.warnings.append(CellNote(None, "extra_cells", _EXTRA(num=-row.missing)))
    return mapped


MappedRows = Sequence[tuple[FileRow, MappedRow]]


@dataclass(frozen=True, slots=True)
class ImportOrder:
    """The campaign of a file, and the user's choices for it."""

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


def prepare(session: Session, order: ImportOrder, table: ContactTable) -> "ImportPreview":
    """Decide how the columns become fields: as chosen, as chosen last time, or by their names (by
    their values if they have none). Raises `UnreadableFile` (``duplicate_columns``)."""
    campaign = session.get_one(Campaign, order.campaign_id)
    rules = load_rules(session, campaign)
    header, phone_order = table.header, order.phone_order
    if order.mapping and list(order.columns) == list(header):
        mapping = order.mapping
    else:
        mapping, phone_order = _remembered_mapping(session, order.campaign_id, header), ()
        if mapping and table.header_is_made and contradicts_targets(table, rules, mapping):
            mapping = []
    targets = [ColumnTarget.parse(text) for text in mapping] or suggest_for(table, rules)
    settings = MappingSettings(
        HeaderMapping(header, targets, phone_order),
        order.region or rules.default_region,
        order.repairs,
        rules.keys,
        by_hand=order.by_hand or (bool(mapping) and targets != suggested(table, rules)),
    )
    organization = session.get_one(Organization, campaign.organization_id)
    open_regions = destinations.destinations_of(session, organization).regions.open
    return ImportPreview(table, settings, rules, order, campaign.revision, open_regions)


def _remembered_mapping(session: Session, campaign_id: UUID, header: Sequence[str]) -> list[str]:
    """Return the choice for these columns last time, also for a corrected file with its problem
    column; empty for new ones."""
    remembered = session.get(ColumnMapping, (campaign_id, columns_hash(header)))
    added = problem_column(header)
    if remembered is not None or added is None:
        return remembered.mapping if remembered else []
    remembered = session.get(ColumnMapping, (campaign_id, columns_hash(header[:added])))
    if remembered is None:
        return []
    extra_targets = [str(ColumnTarget(TargetField.METADATA, name)) for name in header[added + 1 :]]
    return [*remembered.mapping, str(ColumnTarget(TargetField.IGNORE)), *extra_targets]


class ImportPreview:
    """The effects of applying an open file. Use it in a ``with`` block.

    ``counts`` has the five counts so far, ``rows`` their sum, ``samples`` the first rows and
    ``revision`` the campaign's at the beginning. ``equal`` counts the updated rows that change
    nothing.
    """

    def __init__(
        self,
        table: ContactTable,
        settings: MappingSettings,
        rules: ContactRules,
        order: ImportOrder,
        revision: int,
        open_regions: frozenset[str],
    ):
        self.table = table
        self.settings = settings
        self.revision = revision
        self.counts = Counter(dict.fromkeys(COUNTS, 0))
        self.rows = 0
        self.samples: list[list[str]] = []
        self._assumed_country = 0
        self.equal = 0
        self._dry_run = contacts.DryRun(rules, order.action)
        self._corrections = order.corrections
        self._open_regions = open_regions

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._dry_run.close()

    def read(self) -> Iterator[Sequence[FileRow]]:
        """Yield the rows of the file with their corrections, a chunk at a time. Raises
        `UnreadableFile`."""
        rows = self._corrected_rows()
        while chunk := list(islice(rows, CHUNK)):
            if not self.rows:
                self.samples = [
                    [cell[:_SAMPLE_LENGTH] for cell in row.cells] for row in chunk[:SAMPLES]
                ]
            self.rows += len(chunk)
            yield chunk
        if not self.rows:
            raise UnreadableFile("no_rows")

    def map_rows(self, rows: Sequence[FileRow]) -> MappedRows:
        """Return each row with its contact and the notes on its cells."""
        return [
            (row, MappedRow() if self._leaves_out(row.number) else map_row(row, self.settings))
            for row in rows
        ]

    def plan(self, session: Session, import_id: UUID, chunk: MappedRows) -> list[RowRecord]:
        """Return the outcome and the problems of each row of the next chunk, in a read-only
        transaction.

        Rows with errors are checked further, so that all their problems are reported at once.
        """
        corrected = self._corrections.keys() & {row.number for row, _ in chunk}
        left_out = set(filter(self._leaves_out, corrected))
        good = [
            (row.number, mapped.contact)
            for row, mapped in chunk
            if not mapped.errors and row.number not in left_out
        ]
        numbers = [number for number, _ in good]
        result = self._dry_run.apply(session, [contact for _, contact in good], numbers)
        outcomes = dict(zip(numbers, result.outcomes, strict=True))
        ignored = {entry["index"]: entry["code"] for entry in result.ignored}
        outcomes |= dict.fromkeys(left_out, IGNORED)
        ignored |= dict.fromkeys(left_out, LEFT_OUT)
        codes = ignored | dict.fromkeys(result.equal, UNCHANGED)
        self.equal += len(result.equal)
        records = []
        for row, mapped in chunk:
            number = row.number
            outcome = outcomes.get(number, FAILED)
            self.counts[outcome] += 1
            self._assumed_country += mapped.assumed_country and outcome != FAILED
            problems = result.problems.get(number, ())
            if number in result.listed:
                mapped.warnings.append(CellNote(None, ON_DO_NOT_CALL_LIST, _ON_LIST()))
            elif outcome in _STORED and (phone := mapped.contact.get("phone")):
                mapped.warnings += self._closed_country(phone)
            if mapped.errors and not row.problem:
                problems = self._further_problems(mapped)
            records.append(
                record(
                    import_id,
                    row,
                    mapped,
                    self.settings.mapping,
                    outcome,
                    problems,
                    codes.get(number),
                    result.again.get(number),
                )
            )
        return records

    def rows_without_effect(self) -> Iterator[list[int]]:
        """Yield the numbers of rows that other rows of the file undo, a chunk at a time, after the
        last row; see `contacts.DryRun.rows_without_effect`."""
        return self._dry_run.rows_without_effect(CHUNK)

    def _closed_country(self, phone: str) -> list[CellNote]:
        region = quick_region_of(phone) if phone.startswith("+") else None
        if region is None or region in self._open_regions:
            return []
        message = _NOT_OPEN(country_words=country_name(region))
        return [CellNote(None, COUNTRY_NOT_OPEN, message, region)]

    def found(self) -> dict[str, Any]:
        """Return how the file was read, as `ContactImport.found` keeps it. Complete after the last
        chunk; ``noteRows`` counts the rows of a warning, 0 if it is about the file, ``equalRows``
        those of the updated rows that change nothing."""
        table, notes = self.table, self._notes()
        return {
            "encoding": table.encoding,
            "delimiter": table.delimiter,
            "sheet": table.sheet,
            "sheets": list(table.sheets),
            "headerRow": table.header_row_number,
            "mappedBy": "hand" if self.settings.by_hand else "auto",
            "notes": list(notes),
            "noteRows": notes,
            "skipped": table.skipped,
            "equalRows": self.equal,
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
        if self.settings.shortened_keys:
            notes["key_too_long"] = 0
        return notes

    def _corrected_rows(self) -> Iterator[FileRow]:
        if not self._corrections:
            return self.table.rows()
        width, corrections = len(self.table.header), self._corrections
        return (
            corrected_row(row, corrections[row.number], width) if row.number in corrections else row
            for row in self.table.rows()
        )

    def _leaves_out(self, number: int) -> bool:
        correction = self._corrections.get(number) if self._corrections else None
        return correction is not None and correction.skipped

    def _further_problems(self, mapped: MappedRow) -> Sequence[Problem]:
        reading = self._dry_run.read(mapped.contact)
        if not isinstance(reading, list):
            return ()
        return [problem for problem in reading if problem.code != MISSING_IDENTIFIER]
