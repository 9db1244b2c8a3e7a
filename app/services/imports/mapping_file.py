"""The mapping file of a script: columns for fields by name, ``{field: column or [columns]}``.

A field is one of ``firstName lastName fullName email phone countryCode status doNotCall ignore``,
an external id of the campaign (``crmId`` or ``externalId:crmId``), ``externalIdKey`` and
``externalIdValue`` if both are named, else a metadata key. A column is its name, or its letter if
no column has that name. Other columns become what their name suggests; if that field is taken, they
are kept as metadata. Do-not-call columns always stay so.
"""

from collections.abc import Mapping as Dictionary
from collections.abc import Sequence
from typing import Any, NamedTuple

from app.contact_files import UnreadableFile
from app.errors import ValidationFailed
from app.schemas.checks import MAX_METADATA_KEY
from app.services.imports.mapping import ONCE, PAIR, ColumnTarget, TargetField, free_key

_FIELDS = {str(each): each for each in TargetField} | {"name": TargetField.FULL_NAME}
_PARTS = frozenset({TargetField.FIRST_NAME, TargetField.LAST_NAME})


class ByHand(NamedTuple):
    """One target for each column, and the phone columns in the order in which they count."""

    targets: list[ColumnTarget]
    phone_order: list[int]


def targets_of(
    mapping: Any,
    header: Sequence[str],
    keys: Dictionary[str, bool],
    suggested: Sequence[ColumnTarget],
) -> ByHand:
    """Return the targets for a mapping file. Raises `ValidationFailed` (``invalid_mapping``) and
    `UnreadableFile` (``no_such_column``)."""
    if not isinstance(mapping, dict) or not mapping:
        raise _invalid_mapping("it isn't an object of fields and columns")
    by_pair = set(PAIR) <= mapping.keys()
    targets_by_index: dict[int, ColumnTarget] = {}
    phones: list[int] = []
    for name, columns in mapping.items():
        target = (
            ColumnTarget(TargetField(name))
            if by_pair and name in PAIR
            else _parse_target(name, keys)
        )
        indexes = [_column_index(column, header) for column in _column_names(name, columns)]
        if len(indexes) > 1 and (target.field in ONCE or target.key):
            raise _invalid_mapping(f"“{name}” can only come from one column")
        for index in indexes:
            if index in targets_by_index:
                raise _invalid_mapping(f"the column “{header[index]}” is named twice")
            targets_by_index[index] = _with_metadata_key(target, header[index])
        if target.field is TargetField.PHONE:
            phones = indexes
    return ByHand(_with_suggested(targets_by_index, header, suggested), phones)


def _with_suggested(
    targets_by_index: Dictionary[int, ColumnTarget],
    header: Sequence[str],
    suggested: Sequence[ColumnTarget],
) -> list[ColumnTarget]:
    used_fields = {target.field for target in targets_by_index.values()}
    if TargetField.FULL_NAME in used_fields:
        used_fields |= _PARTS
    elif used_fields & _PARTS:
        used_fields.add(TargetField.FULL_NAME)
    keys = {
        target.key for target in targets_by_index.values() if target.field is TargetField.METADATA
    }
    targets = []
    for index, target in enumerate(suggested):
        if index in targets_by_index:
            targets.append(targets_by_index[index])
        elif target.field is TargetField.DO_NOT_CALL:
            targets.append(target)
        elif target in targets_by_index.values() or (
            target.field in used_fields and not target.key
        ):
            targets.append(
                _with_metadata_key(ColumnTarget(TargetField.METADATA), header[index], keys)
            )
        else:
            targets.append(target)
    return targets


def _parse_target(name: str, keys: Dictionary[str, bool]) -> ColumnTarget:
    kind, _, key = name.partition(":")
    if kind in (TargetField.EXTERNAL_ID, "externalIdValue") or name in keys:
        id_key = name if name in keys else key or (next(iter(keys)) if len(keys) == 1 else "")
        if id_key not in keys:
            allowed = ", ".join(sorted(keys)) or "none"
            raise _invalid_mapping(
                f"“{name}” isn't an external id of the campaign, which has: {allowed}"
            )
        return ColumnTarget(TargetField.EXTERNAL_ID, id_key)
    if name in _FIELDS:
        return ColumnTarget(_FIELDS[name])
    key = name.removeprefix("metadata:").removeprefix("contactMetadata.").strip()
    if not key:
        raise _invalid_mapping("a key of metadata has no name")
    if len(key) > MAX_METADATA_KEY:
        raise _invalid_mapping(f"“{key[:20]}…” has more than {MAX_METADATA_KEY} characters")
    return ColumnTarget(TargetField.METADATA, key)


def _with_metadata_key(
    target: ColumnTarget, name: str, used_keys: frozenset[str] | set[str] = frozenset()
) -> ColumnTarget:
    """Return the target; metadata without a key gets the column's name as its key."""
    if target.field is not TargetField.METADATA or target.key:
        return target
    return ColumnTarget(TargetField.METADATA, free_key(name, used_keys))


def _column_names(name: str, columns: Any) -> list[str]:
    names = columns if isinstance(columns, list) else [columns]
    if not names or not all(isinstance(column, str) and column.strip() for column in names):
        raise _invalid_mapping(f"“{name}” needs the name or the letter of a column")
    return names


def _column_index(column: str, header: Sequence[str]) -> int:
    requested = " ".join(column.split())
    if requested in header:
        return header.index(requested)
    folded = [name.casefold() for name in header]
    if requested.casefold() in folded:
        return folded.index(requested.casefold())
    index = -1
    if requested.isascii() and requested.isalpha() and len(requested) <= 3:
        index = 0
        for letter in requested.upper():
            index = index * 26 + ord(letter) - ord("A") + 1
        index -= 1
    if not 0 <= index < len(header):
        columns = ", ".join(header[:20]) + (", …" if len(header) > 20 else "")
        raise UnreadableFile("no_such_column", name=column[:100], columns=columns[:300])
    return index


def _invalid_mapping(reason: str) -> ValidationFailed:
    return ValidationFailed(f"The mapping can't be used: {reason}.", "invalid_mapping")
