"""The columns of a file that cause each change of a contact."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from app.models import ContactImport
from app.portal.web.formats import phone
from app.schemas.checks import MAX_METADATA_KEY
from app.services.imports.changes import ContactChange
from app.services.imports.mapping import ColumnTarget, TargetField

_MAX_VALUE_LENGTH = 200
_LAST_DIGITS = 4


class ContactFieldChange(NamedTuple):
    """A change of a field without a column of its own; an empty value means none."""

    label: str
    old: str
    new: str


class RowChanges(NamedTuple):
    """The old values of a row's contact by the index of the column that replaces them, empty if
    there was none, the phone numbers that replace them, and the changes of other fields."""

    old_values: Mapping[int, str] = {}
    new_phones: Mapping[int, str] = {}
    others: Sequence[ContactFieldChange] = ()


def row_changes(
    upload: ContactImport,
    cells: Sequence[str],
    change: ContactChange,
    field_names: Mapping[TargetField, str],
) -> RowChanges:
    remaining = change.fields
    old_values, new_phones = {}, {}
    for index, (cell, text) in enumerate(zip(cells, upload.mapping, strict=False)):
        for fields in _fields_of(ColumnTarget.parse(text), upload.columns[index], remaining):
            if any(
                field in remaining and _contains_value(cell, field, change.after)
                for field in fields
            ):
                old = (_format_value(change.before, field) for field in fields)
                old_values[index] = " ".join(filter(None, old))
                if TargetField.PHONE in fields:
                    new_phones[index] = _format_value(change.after, TargetField.PHONE)
                remaining = [field for field in remaining if field not in fields]
                break
    unmatched = [
        ContactFieldChange(
            _label(field, field_names),
            _format_value(change.before, field),
            _format_value(change.after, field),
        )
        for field in remaining
    ]
    return RowChanges(old_values, new_phones, unmatched)


def _fields_of(
    target: ColumnTarget, column: str, changed: Sequence[str]
) -> Iterator[Sequence[str]]:
    """Yield the possible fields of a column's cells, of which the first that changes counts. A
    second phone number is kept as metadata."""
    if target.field is TargetField.FULL_NAME:
        yield TargetField.FIRST_NAME, TargetField.LAST_NAME
    elif target.field is TargetField.EXTERNAL_ID_VALUE:
        yield [field for field in changed if field.startswith(f"{TargetField.EXTERNAL_ID}:")]
    elif target.field is TargetField.METADATA and not target.key:
        yield (_metadata_target(column),)
    else:
        yield (str(target),)
    if target.field in (TargetField.PHONE, TargetField.EMAIL, TargetField.COUNTRY_CODE):
        yield (_metadata_target(column),)


def _metadata_target(column: str) -> str:
    return str(ColumnTarget(TargetField.METADATA, column[:MAX_METADATA_KEY]))


def _contains_value(cell: str, field: str, after: Mapping[str, str]) -> bool:
    """Return whether the new value can be from this cell: only one of several numbers counts."""
    value = after.get(field, "")
    if field == TargetField.PHONE:
        return _digits(cell).endswith(_digits(value)[-_LAST_DIGITS:])
    if field == TargetField.EMAIL:
        return value.casefold() in cell.casefold()
    return bool(cell.strip())


def _digits(text: str) -> str:
    return "".join(filter(str.isdecimal, text))


def _label(field: str, field_names: Mapping[TargetField, str]) -> str:
    target = ColumnTarget.parse(field)
    return target.key or field_names[target.field]


def _format_value(values: Mapping[str, str], field: str) -> str:
    value = values.get(field, "")
    if field == TargetField.PHONE:
        return phone(value) if value else ""
    return value if len(value) <= _MAX_VALUE_LENGTH else value[:_MAX_VALUE_LENGTH] + "…"
