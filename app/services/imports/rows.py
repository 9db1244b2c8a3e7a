"""One row of a file as a contact, with everything there is to say about its cells."""

from collections.abc import Mapping as Dictionary
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from app.errors import Problem
from app.services.contacts import consent
from app.services.imports.contact_cells import Note
from app.services.imports.contact_rows import to_contact
from app.services.imports.mapping import MAX_METADATA_KEY, Field, MappedRow, Mapping
from app.services.imports.reading import Row

REPAIRED = "repaired"
"""The code of the warning at a cell whose damage was undone because a person said so."""
_KEPT_ON_THE_SIDE = frozenset({Field.METADATA, Field.PHONE, Field.EMAIL})
"""Columns whose values become metadata, always or where another one counts."""
_OF_A_REFUSAL = frozenset({consent.KEY, consent.SOURCE_KEY})


@dataclass(frozen=True, slots=True)
class Plan:
    """How the rows of a file become contacts. ``repairs`` are the kinds of damage to undo,
    ``keys`` the campaign's external ids and whether each identifies."""

    mapping: Mapping
    default_region: str
    repairs: frozenset[str] = frozenset()
    keys: Dictionary[str, bool] = field(default_factory=dict)
    by_hand: bool = False
    """Whether a person gave the columns other meanings than their names have."""

    @property
    def shortened_keys(self) -> bool:
        """Whether the name of a column was too long to be a key of metadata."""
        mapping = self.mapping
        chosen = dict(mapping.metadata)
        return any(
            len(name) > len(chosen.get(index, key)) == MAX_METADATA_KEY
            for index, (name, key) in enumerate(zip(mapping.header, mapping.keys, strict=True))
            if mapping.targets[index].field in _KEPT_ON_THE_SIDE
        )


def read_row(row: Row, plan: Plan) -> MappedRow:
    """The contact of a row. A row that can't be trusted has no contact, only its error."""
    if row.problem:
        return MappedRow(errors=[Note(None, *row.problem)])
    mapped = _mapped(row, row.cells, plan)
    if not (mapped.errors and plan.repairs):
        return mapped
    accepted = {
        note.column: note
        for note in mapped.errors
        if note.column is not None and note.repair and note.reason in plan.repairs
    }
    if not accepted:
        return mapped
    cells = list(row.cells)
    for column, note in accepted.items():
        cells[column] = str(note.repair)
    again = _mapped(row, cells, plan)
    again.warnings += [
        Note(column, REPAIRED, f"Repaired to {note.repair}.", note.reason)
        for column, note in accepted.items()
    ]
    return again


def _mapped(row: Row, cells: Sequence[str], plan: Plan) -> MappedRow:
    mapped = to_contact(cells, plan.mapping, plan.default_region)
    if row.missing > 0:
        message = f"{row.missing} cells are missing at the end of the row; they count as empty."
        mapped.warnings.append(Note(None, "missing_cells", message))
    elif row.missing < 0:
        message = f"{-row.missing} empty cells too many at the end of the row were left out."
        mapped.warnings.append(Note(None, "extra_cells", message))
    return mapped


def field_of(column: int | None, mapping: Mapping) -> str | None:
    """The contact's field that a column becomes, in the words of the API."""
    if column is None or column >= len(mapping.targets):
        return None
    target = mapping.targets[column]
    match target.field:
        case Field.METADATA:
            return f"contactMetadata.{target.key or mapping.header[column]}"
        case Field.EXTERNAL_ID:
            return "externalIdValue"
        case _:
            return str(target.field)


def column_of(
    problem: Problem, cells: Sequence[str], contact: Dictionary[str, Any], mapping: Mapping
) -> int | None:
    """The column where a problem of a contact's field is shown."""
    name, _, key = problem.field.partition(".")
    match name:
        case "phone":
            ids = [index for index, _ in mapping.external_ids]
            return _first(_filled(mapping.phones, cells), mapping.phones, mapping.emails, ids)
        case "email":
            email = contact.get("email")
            same = [i for i in mapping.emails if cells[i].strip() == email]
            return _first(same, mapping.emails)
        case "externalIdKey" | "externalIdValue":
            columns = [index for index, _ in mapping.external_ids]
            pair = [index for index, field in mapping.singles if field == name]
            return _first(pair, _filled(columns, cells), columns)
        case "contactMetadata":
            of_key = [index for index, own in mapping.metadata if own == key]
            named = [mapping.header.index(key)] if key in mapping.header else []
            refusal = mapping.do_not_call if key in _OF_A_REFUSAL else []
            return _first(of_key, named, _filled(refusal, cells))
        case _:
            single = [index for index, field in mapping.singles if field == name]
            return _first(single, mapping.full_names)


def _filled(columns: Sequence[int], cells: Sequence[str]) -> list[int]:
    return [index for index in columns if cells[index].strip()]


def _first(*choices: Sequence[int]) -> int | None:
    return next((columns[0] for columns in choices if columns), None)
