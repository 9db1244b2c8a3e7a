"""Suggest the targets of columns, from their names or, without names, from their values."""

import re
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Mapping as Dictionary
from itertools import islice

from app.contact_files import ContactTable, UnreadableFile
from app.contact_files.column_names import (
    CALLING_CODE,
    WHOLE_WHERE_ALONE,
    field_of,
    may_be_phone,
    metadata_key_of,
    normalized_name,
)
from app.schemas.checks import MAX_METADATA_KEY
from app.services.contacts.rules import ContactRules
from app.services.imports.cells import read_phone
from app.services.imports.contact_json import COLUMN, TEXTS, is_json_column
from app.services.imports.do_not_call_columns import is_do_not_call_column
from app.services.imports.mapping import (
    ONCE,
    PAIR,
    ColumnTarget,
    TargetField,
    free_key,
    problem_column,
)
from app.services.imports.name_columns import find_names
from app.validation.emails import is_email

_NUMBERED = re.compile(r"(.+) \(\d+\)")
_ROWS_TO_JUDGE = 200
_NAMES = frozenset({TargetField.FIRST_NAME, TargetField.LAST_NAME, TargetField.FULL_NAME})


def suggest_for(table: ContactTable, rules: ContactRules) -> list[ColumnTarget]:
    """Suggest a target for each column of an open file. Raises `UnreadableFile`
    (``duplicate_columns``)."""
    header = table.header
    targets = suggest(header, rules.keys)
    if (added := problem_column(header)) is not None:
        targets[added] = ColumnTarget(TargetField.IGNORE)
    for name, target in zip(header, targets, strict=True):
        if name in table.repeated_names and target.field in ONCE:
            raise UnreadableFile("duplicate_columns", row=table.header_row_number, name=name[:100])
    if table.header_is_made:
        return _by_first_rows(table, rules) or targets
    if (position := _phone_by_word(table, targets, rules.default_region)) is not None:
        targets[position] = ColumnTarget(TargetField.PHONE)
    return targets


def _phone_by_word(
    table: ContactTable, targets: Sequence[ColumnTarget], region: str | None
) -> int | None:
    """Return the phone column by a word in its name and its values, if no whole name is known; of
    several, the one with most values."""
    if COLUMN in table.header or ColumnTarget(TargetField.PHONE) in targets:
        return None
    free = [
        index
        for index, (name, target) in enumerate(zip(table.header, targets, strict=True))
        if target.field is TargetField.METADATA and may_be_phone(name)
    ]
    if not free:
        return None
    columns = _values_by_column(_first_rows(table), len(table.header))
    phones = [i for i in free if _kind_of(columns[i], i, region) is TargetField.PHONE]
    return max(phones, key=lambda index: _count_filled(columns[index]), default=None)


def suggested(table: ContactTable, rules: ContactRules) -> list[ColumnTarget]:
    """Suggest targets if it doesn't matter which of several columns of one name counts."""
    try:
        return suggest_for(table, rules)
    except UnreadableFile:
        return suggest(table.header, rules.keys)


def contradicts_targets(
    table: ContactTable, rules: ContactRules, remembered: Sequence[str]
) -> bool:
    """Return whether remembered targets contradict the values of a file without column names.

    Without names all files with as many columns look the same: phones or addresses may be in other
    columns.
    """
    earlier = [ColumnTarget.parse(text).field for text in remembered]
    fields = [target.field for target in _by_first_rows(table, rules) or ()]
    return any(
        kind in earlier and kind in fields and earlier[fields.index(kind)] is not kind
        for kind in (TargetField.PHONE, TargetField.EMAIL)
    )


def _by_first_rows(table: ContactTable, rules: ContactRules) -> list[ColumnTarget] | None:
    return by_content(table.header, _first_rows(table), rules.default_region)


def _first_rows(table: ContactTable) -> list[list[str]]:
    width = len(table.header)
    return [row.cells[:width] for row in islice(table.rows(), _ROWS_TO_JUDGE)]


def _values_by_column(rows: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    return [[row[i].strip() for row in rows if i < len(row)] for i in range(width)]


def suggest(header: Sequence[str], external_id_keys: Iterable[str] = ()) -> list[ColumnTarget]:
    """Suggest a target for each column by the names that exporters and users give."""
    if COLUMN in header:
        return _exported_targets(header, set(external_id_keys))
    keys = {normalized_name(key): key for key in external_id_keys}
    if len(keys) == 1:
        keys["externalid"] = next(iter(keys.values()))
    targets: list[ColumnTarget] = []
    for name in header:
        target = _by_name(name, header, keys)
        if target in targets and (target.field in ONCE or target.field is TargetField.EXTERNAL_ID):
            target = ColumnTarget(TargetField.METADATA)
        targets.append(target)
    fields = {target.field for target in targets}
    if TargetField.LAST_NAME in fields and TargetField.FULL_NAME in fields:
        # Patient and Surname: a single name next to a last name is the first name.
        name_field = (
            TargetField.METADATA if TargetField.FIRST_NAME in fields else TargetField.FIRST_NAME
        )
        targets = [
            ColumnTarget(name_field) if t.field is TargetField.FULL_NAME else t for t in targets
        ]
    elif fields & _NAMES == {TargetField.FIRST_NAME}:
        index = targets.index(ColumnTarget(TargetField.FIRST_NAME))
        if normalized_name(header[index]) in WHOLE_WHERE_ALONE:
            targets[index] = ColumnTarget(TargetField.FULL_NAME)
    if len(fields.intersection(PAIR)) == 1:
        targets = [ColumnTarget(TargetField.METADATA) if t.field in PAIR else t for t in targets]
    return _with_metadata_keys(header, targets)


def _by_name(name: str, header: Sequence[str], keys: Dictionary[str, str]) -> ColumnTarget:
    """Return the target for a name; ``keys`` are the external ids by their plain names."""
    if normalized_name(name) in keys:
        return ColumnTarget(TargetField.EXTERNAL_ID, keys[normalized_name(name)])
    if field_name := field_of(name) or _repeated_field(name, header):
        return ColumnTarget(TargetField(field_name))
    if is_do_not_call_column(_without_number(name, header)):
        return ColumnTarget(TargetField.DO_NOT_CALL)
    if normalized_name(name) in CALLING_CODE:
        return ColumnTarget(TargetField.COUNTRY_CODE)
    return ColumnTarget(TargetField.METADATA, metadata_key_of(name) or "")


def _exported_targets(
    header: Sequence[str], external_id_keys: Collection[str]
) -> list[ColumnTarget]:
    """Return the targets of a file that was exported here, which are the columns' names."""
    targets = []
    for name in header:
        kind, _, key = name.partition(":")
        if is_json_column(name):
            targets.append(ColumnTarget(TargetField.EXACT))
        elif name in TEXTS:
            targets.append(ColumnTarget(TargetField(name)))
        elif kind == TargetField.EXTERNAL_ID and key in external_id_keys:
            targets.append(ColumnTarget(TargetField.EXTERNAL_ID, key))
        else:
            metadata_key = key if kind == TargetField.EXTERNAL_ID else name
            targets.append(ColumnTarget(TargetField.METADATA, metadata_key[:MAX_METADATA_KEY]))
    return targets


def _repeated_field(name: str, header: Sequence[str]) -> str | None:
    """Return the field of a column that shares its name with an earlier one, if several may
    count."""
    field_name = field_of(_without_number(name, header))
    return field_name if field_name in {TargetField.PHONE, TargetField.EMAIL} else None


def _without_number(name: str, header: Sequence[str]) -> str:
    """Return the name that a column shares with an earlier one, else its own."""
    match = _NUMBERED.fullmatch(name)
    return match[1] if match and match[1] in header else name


def by_content(
    header: Sequence[str], samples: Sequence[Sequence[str]], region: str | None
) -> list[ColumnTarget] | None:
    """Return targets for columns without names if the values are unambiguous: one column of phones,
    one of addresses, or one of each; else None. A column with more than twice as many values as the
    others of its kind counts alone. Names are found by `find_names`."""
    columns = _values_by_column(samples, len(header))
    kinds = [_kind_of(values, index, region) for index, values in enumerate(columns)]
    for kind in (TargetField.PHONE, TargetField.EMAIL):
        positions = [index for index, column_kind in enumerate(kinds) if column_kind is kind]
        positions.sort(key=lambda index: _count_filled(columns[index]), reverse=True)
        for index in positions[1:]:
            if _count_filled(columns[index]) * 2 >= _count_filled(columns[positions[0]]):
                return None
            kinds[index] = TargetField.METADATA
    if not {TargetField.PHONE, TargetField.EMAIL}.intersection(kinds):
        return None
    free = [index for index, kind in enumerate(kinds) if kind is TargetField.METADATA]
    for index, name in find_names(columns, free).items():
        kinds[index] = TargetField(name)
    return _with_metadata_keys(header, [ColumnTarget(kind) for kind in kinds])


def _count_filled(values: Sequence[str]) -> int:
    return sum(1 for value in values if value)


def _kind_of(values: Sequence[str], index: int, region: str | None) -> TargetField:
    """Return the kind of more than half of the values."""
    filled = [value for value in values if value]
    if sum(map(is_email, filled)) * 2 > len(filled):
        return TargetField.EMAIL
    numbers = [value for value in filled if sum(map(str.isdigit, value)) >= 7]
    cells = [read_phone(value, index, region) for value in numbers]
    phone_count = sum(1 for cell in cells if cell.number and not cell.has_text)
    return TargetField.PHONE if phone_count * 2 > len(filled) else TargetField.METADATA


def _with_metadata_keys(header: Sequence[str], targets: list[ColumnTarget]) -> list[ColumnTarget]:
    used_keys: set[str] = set()
    result = []
    for name, target in zip(header, targets, strict=True):
        if target.field is TargetField.METADATA:
            key = (target.key or name)[:MAX_METADATA_KEY]
            if key in used_keys:
                key = free_key(name, used_keys)
            used_keys.add(key)
            result.append(ColumnTarget(TargetField.METADATA, key))
        else:
            result.append(target)
    return result
