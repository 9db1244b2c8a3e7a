"""Export the contacts of a campaign as a CSV file that imports again to exactly the same contacts.

Each cell is verified by the code that reads files. A value that would not be read back as it is
stored (a number in the metadata, a name with spaces around it) goes to the last columns as JSON
(`contact_json`). Cells that a spreadsheet would run as formulas are escaped (`guard_cell`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.contact_files.header import looks_like_data
from app.contact_files.table import filled, is_footer
from app.models import Campaign, Contact, ContactExternalId
from app.schemas.checks import MAX_METADATA_KEY
from app.services import campaigns, csv_files
from app.services.contacts.contact_index import HeldId
from app.services.imports import contact_json, mapping
from app.services.imports.mapping import PROBLEM_COLUMN, ColumnTarget, TargetField
from app.services.imports.rows import to_contact

BATCH_SIZE = 1000
MAX_METADATA_COLUMNS = MAX_ID_COLUMNS = 200
_TEXTS_AT_MOST = 4096
_ID_AT_MOST = 2048
"""Maximum characters of JSON: of the texts of a contact together, and of an external id."""


@dataclass(slots=True)
class ExportColumns:
    """The columns of one export: external ids of the campaign, and metadata keys that can be column
    names, in the order in which they are found. ``largest`` is the size of the largest metadata as
    JSON."""

    campaign_id: UUID
    external_ids: Mapping[str, bool]
    metadata: dict[str, None] = field(default_factory=dict)
    largest: int = 0

    def header(self) -> list[str]:
        ids = [f"{TargetField.EXTERNAL_ID}:{key}" for key in self._named_ids()]
        return [*contact_json.TEXTS, *ids, *self.metadata, *self._exact_columns()]

    def mapping(self) -> mapping.HeaderMapping:
        targets = [
            *(ColumnTarget(TargetField(name)) for name in contact_json.TEXTS),
            *(ColumnTarget(TargetField.EXTERNAL_ID, key) for key in self._named_ids()),
            *(ColumnTarget(TargetField.METADATA, key) for key in self.metadata),
            *(ColumnTarget(TargetField.EXACT) for _ in self._exact_columns()),
        ]
        return mapping.HeaderMapping(self.header(), targets)

    def _named_ids(self) -> list[str]:
        named = [key for key in self.external_ids if _is_name(f"{TargetField.EXTERNAL_ID}:{key}")]
        return named[:MAX_ID_COLUMNS]

    def _exact_columns(self) -> list[str]:
        other_size = _TEXTS_AT_MOST + _ID_AT_MOST * len(self.external_ids)
        return contact_json.columns_for(self.largest + other_size)


def columns_of(session: Session, campaign: Campaign) -> ExportColumns:
    """Return the columns for an export of a campaign that came from its loader."""
    return ExportColumns(campaign.id, campaigns.external_id_keys(session, campaign))


def parts(
    transaction: Callable[[], AbstractContextManager[Session]], columns: ExportColumns
) -> Iterator[bytes]:
    """Yield the file, a thousand contacts at a time, each in a read-only transaction."""
    after: UUID | None = None
    while True:
        with transaction() as session:
            after = _collect_columns(session, columns, after)
        if after is None:
            break
    yield csv_files.first_line(columns.header())
    read_as = columns.mapping()
    while True:
        with transaction() as session:
            text, after = _next_lines(session, columns, read_as, after)
        yield text
        if after is None:
            return


def _collect_columns(session: Session, columns: ExportColumns, after: UUID | None) -> UUID | None:
    """Scan the next contacts for metadata keys and the largest size; return where to continue, None
    at the end."""
    query = select(Contact.id, Contact.contact_metadata)
    rows = session.execute(_page_query(query, columns, after)).all()
    for row in rows:
        metadata = row.contact_metadata or {}
        columns.largest = max(columns.largest, contact_json.size_of([*metadata.items()]))
        for key, value in metadata.items():
            if key not in columns.metadata and isinstance(value, str) and _is_metadata_name(key):
                if len(columns.metadata) == MAX_METADATA_COLUMNS:
                    break
                columns.metadata[key] = None
    return rows[-1].id if len(rows) == BATCH_SIZE else None


def _next_lines(
    session: Session, columns: ExportColumns, read_as: mapping.HeaderMapping, after: UUID | None
) -> tuple[bytes, UUID | None]:
    """Return the next contacts, oldest first, and where to continue; None at the end."""
    query = select(
        Contact.id,
        Contact.first_name,
        Contact.last_name,
        Contact.email,
        Contact.phone,
        Contact.status,
        Contact.contact_metadata,
    )
    rows = session.execute(_page_query(query, columns, after)).all()
    if not rows:
        return b"", None
    ids: dict[UUID, dict[str, HeldId]] = {row.id: {} for row in rows}
    id_query = select(
        ContactExternalId.contact_id,
        ContactExternalId.key,
        ContactExternalId.value,
        ContactExternalId.identifies,
    ).where(ContactExternalId.contact_id.in_(ids))
    for contact_id, key, value, identifies in session.execute(id_query):
        if key in columns.external_ids:
            ids[contact_id][key] = HeldId(value, identifies)
    cell_rows = (
        _contact_cells(columns, read_as, row[1:6], row.contact_metadata or {}, ids[row.id])
        for row in rows
    )
    return csv_files.lines(cell_rows), rows[-1].id if len(rows) == BATCH_SIZE else None


def _page_query(query: Any, columns: ExportColumns, after: UUID | None) -> Any:
    query = query.where(Contact.campaign_id == columns.campaign_id)
    if after is not None:
        query = query.where(Contact.id > after)
    return query.order_by(Contact.id).limit(BATCH_SIZE)


def _contact_cells(
    columns: ExportColumns,
    read_as: mapping.HeaderMapping,
    texts: Sequence[str | None],
    metadata: Mapping[str, Any],
    ids: Mapping[str, HeldId],
) -> list[str]:
    values: dict[tuple[str, str], Any] = {}
    """The values to write, by their place in the JSON."""
    for name, text in zip(contact_json.TEXTS, texts, strict=True):
        if text:
            values[name, ""] = text
    for key, external_id in ids.items():
        is_plain = external_id.identifies == columns.external_ids[key]
        values["externalIds", key] = external_id.value if is_plain else external_id._asdict()
    for key, value in metadata.items():
        values["contactMetadata", key] = value
    cells = []
    for target in read_as.targets:
        value = values.get(_value_key(target))
        cells.append(value if isinstance(value, str) and value.isprintable() else "")
    for index in _unreadable_columns(cells, read_as, values):
        cells[index] = ""
    in_cells = {
        _value_key(target) for target, cell in zip(read_as.targets, cells, strict=True) if cell
    }
    remaining = {key: value for key, value in values.items() if key not in in_cells}
    first = read_as.exact[0]
    cells[first:] = contact_json.write_exact(remaining, len(read_as.exact))
    return cells


def _value_key(target: ColumnTarget) -> tuple[str, str]:
    match target.field:
        case TargetField.METADATA:
            return "contactMetadata", target.key
        case TargetField.EXTERNAL_ID:
            return "externalIds", target.key
        case _:
            return str(target.field), ""


def _unreadable_columns(
    cells: Sequence[str], read_as: mapping.HeaderMapping, values: Mapping[tuple[str, str], Any]
) -> set[int]:
    """Return the columns that would not be read as they were written."""
    mapped = to_contact(cells, read_as, None)
    contact = mapped.contact
    ids = dict(contact.get("externalIds", {}))
    if "externalIdKey" in contact:
        ids[contact["externalIdKey"]] = contact["externalIdValue"]
    texts = {(name, ""): contact.get(name) for name in contact_json.TEXTS}
    texts |= {("externalIds", key): value for key, value in ids.items()}
    texts |= {("contactMetadata", key): v for key, v in contact.get("contactMetadata", {}).items()}
    wrong = {note.column for note in mapped.errors if note.column is not None}
    for index, (target, cell) in enumerate(zip(read_as.targets, cells, strict=True)):
        value_key = _value_key(target)
        if cell and texts.get(value_key) != values[value_key]:
            wrong.add(index)
    if (filled_cells := filled(cells)) and is_footer(filled_cells):
        wrong.update(i for i, t in enumerate(read_as.targets) if t.field is not TargetField.PHONE)
    return wrong


def _is_metadata_name(key: str) -> bool:
    kind = key.partition(":")[0]
    reserved = key in contact_json.TEXTS or contact_json.is_json_column(key)
    return kind != TargetField.EXTERNAL_ID and not reserved and _is_name(key)


def _is_name(text: str) -> bool:
    """Return whether a column can have this name and is found under it again."""
    return (
        len(text) <= MAX_METADATA_KEY
        and text.isprintable()
        and " ".join(text.split()) == text != ""
        and not looks_like_data(text)
        and text != PROBLEM_COLUMN
    )
