"""What the columns of a file become where nobody has said it: by their names, or by values."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice

from app.services.contacts.rules import Rules
from app.services.imports import call_refusals
from app.services.imports.aliases import (
    WHOLE_WHERE_ALONE,
    field_of,
    metadata_key_of,
    plain,
)
from app.services.imports.contact_cells import read_phone
from app.services.imports.exact import COLUMN, TEXTS, is_column
from app.services.imports.failures import PROBLEM_COLUMN
from app.services.imports.mapping import MAX_METADATA_KEY, ONCE, PAIR, Field, Target
from app.services.imports.reading import Table, UnreadableFile
from app.validation.emails import is_email

_NUMBERED = re.compile(r"(.+) \(\d+\)")
_ROWS_TO_JUDGE = 200
_NAMES = frozenset({Field.FIRST_NAME, Field.LAST_NAME, Field.FULL_NAME})


def suggest_for(table: Table, rules: Rules) -> list[Target]:
    """One target for each column of an open file. Raises `UnreadableFile`
    (``duplicate_columns``)."""
    header = table.header
    targets = suggest(header, rules.keys)
    if header[-1] == PROBLEM_COLUMN:
        targets[-1] = Target(Field.IGNORE)
    for name, target in zip(header, targets, strict=True):
        if name in table.repeated_names and target.field in ONCE:
            raise UnreadableFile("duplicate_columns", row=table.header_row_number, name=name[:100])
    if table.header_is_made:
        return _by_first_rows(table, rules) or targets
    return targets


def suggested(table: Table, rules: Rules) -> list[Target]:
    """The same where it doesn't matter which of several columns of one name counts."""
    try:
        return suggest_for(table, rules)
    except UnreadableFile:
        return suggest(table.header, rules.keys)


def contradicted(table: Table, rules: Rules, chosen: Sequence[str]) -> bool:
    """Whether targets that were chosen for an earlier file without column names take other columns
    for phones or addresses than the values of this one say: without names all columns are alike.
    """
    earlier = [Target.parse(text).field for text in chosen]
    found = [target.field for target in _by_first_rows(table, rules) or ()]
    return any(
        kind in earlier and kind in found and earlier[found.index(kind)] is not kind
        for kind in (Field.PHONE, Field.EMAIL)
    )


def _by_first_rows(table: Table, rules: Rules) -> list[Target] | None:
    width = len(table.header)
    rows = [row.cells[:width] for row in islice(table.rows(), _ROWS_TO_JUDGE)]
    return by_content(table.header, rows, rules.default_region)


def suggest(header: Sequence[str], external_id_keys: Iterable[str] = ()) -> list[Target]:
    """One target for each column, by the names that exporters and people use."""
    if COLUMN in header:
        return _of_export(header, set(external_id_keys))
    keys = {plain(key): key for key in external_id_keys}
    if len(keys) == 1:
        keys["externalid"] = next(iter(keys.values()))
    targets: list[Target] = []
    for name in header:
        target = _by_name(name, header, keys)
        if target in targets and (target.field in ONCE or target.field is Field.EXTERNAL_ID):
            target = Target(Field.METADATA)
        targets.append(target)
    fields = {target.field for target in targets}
    if Field.LAST_NAME in fields and Field.FULL_NAME in fields:
        # Patient and Surname: the one name beside a last name is the first name.
        whole = Field.METADATA if Field.FIRST_NAME in fields else Field.FIRST_NAME
        targets = [Target(whole) if t.field is Field.FULL_NAME else t for t in targets]
    elif fields & _NAMES == {Field.FIRST_NAME}:
        index = targets.index(Target(Field.FIRST_NAME))
        if plain(header[index]) in WHOLE_WHERE_ALONE:
            targets[index] = Target(Field.FULL_NAME)
    if len(fields.intersection(PAIR)) == 1:
        targets = [Target(Field.METADATA) if t.field in PAIR else t for t in targets]
    return _with_metadata_keys(header, targets)


def _by_name(name: str, header: Sequence[str], keys: Mapping[str, str]) -> Target:
    """``keys`` are the external ids by their plain names."""
    if plain(name) in keys:
        return Target(Field.EXTERNAL_ID, keys[plain(name)])
    if known := field_of(name) or _again(name, header):
        return Target(Field(known))
    if call_refusals.is_column(_once(name, header)):
        return Target(Field.DO_NOT_CALL)
    return Target(Field.METADATA, metadata_key_of(name) or "")


def _of_export(header: Sequence[str], external_id_keys: Collection[str]) -> list[Target]:
    """The columns of a file that was exported here: each is what it is called."""
    targets = []
    for name in header:
        kind, _, key = name.partition(":")
        if is_column(name):
            targets.append(Target(Field.EXACT))
        elif name in TEXTS:
            targets.append(Target(Field(name)))
        elif kind == Field.EXTERNAL_ID and key in external_id_keys:
            targets.append(Target(Field.EXTERNAL_ID, key))
        else:
            own = key if kind == Field.EXTERNAL_ID else name
            targets.append(Target(Field.METADATA, own[:MAX_METADATA_KEY]))
    return targets


def _again(name: str, header: Sequence[str]) -> str | None:
    """The field of a column that shares its name with an earlier one, where several may count."""
    known = field_of(_once(name, header))
    return known if known in {Field.PHONE, Field.EMAIL} else None


def _once(name: str, header: Sequence[str]) -> str:
    """The name that a column shares with an earlier one, else its own."""
    match = _NUMBERED.fullmatch(name)
    return match[1] if match and match[1] in header else name


def by_content(
    header: Sequence[str], samples: Sequence[Sequence[str]], region: str | None
) -> list[Target] | None:
    """Targets for columns without names, where the values leave no doubt: one column of phones,
    or one of addresses, or one of each; None where they do."""
    kinds = [
        _kind_of([row[index].strip() for row in samples if index < len(row)], index, region)
        for index in range(len(header))
    ]
    phones, emails = kinds.count(Field.PHONE), kinds.count(Field.EMAIL)
    if max(phones, emails) != 1:
        return None
    return _with_metadata_keys(header, [Target(kind) for kind in kinds])


def _kind_of(values: Sequence[str], index: int, region: str | None) -> Field:
    filled = [value for value in values if value]
    if filled and all(map(is_email, filled)):
        return Field.EMAIL
    numbers = [value for value in filled if sum(map(str.isdigit, value)) >= 7]
    if filled and len(numbers) == len(filled):
        cells = [read_phone(value, index, region) for value in numbers]
        usable = sum(1 for cell in cells if cell.number and not cell.has_text)
        if usable * 2 > len(cells):
            return Field.PHONE
    return Field.METADATA


def _with_metadata_keys(header: Sequence[str], targets: list[Target]) -> list[Target]:
    taken: set[str] = set()
    named = []
    for name, target in zip(header, targets, strict=True):
        if target.field is Field.METADATA:
            key, count = (target.key or name)[:MAX_METADATA_KEY], 1
            if key in taken:
                key = name[:MAX_METADATA_KEY]
            while key in taken:
                count += 1
                key = f"{name[: MAX_METADATA_KEY - len(f' ({count})')]} ({count})"
            taken.add(key)
            named.append(Target(Field.METADATA, key))
        else:
            named.append(target)
    return named
