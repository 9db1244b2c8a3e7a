"""Columns of a file onto fields of a contact, suggested by known names and changed by hand.

Of several phone columns the first valid one counts, with a warning; the others become metadata.
E-mail columns likewise. Columns that are nothing else become metadata under their own name.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any, NamedTuple, Self

import orjson

from app.emails import is_email
from app.services.imports.aliases import field_of, plain
from app.services.imports.contact_cells import (
    Note,
    PhoneCell,
    placeholder,
    read_phone,
    split_name,
    unusable,
)

MAX_METADATA_KEY = 64
EXTENSION_KEY = "phoneExtension"
"""The metadata key that an extension is kept under."""


class Field(StrEnum):
    """What a column can hold."""

    FIRST_NAME = "firstName"
    LAST_NAME = "lastName"
    FULL_NAME = "fullName"
    EMAIL = "email"
    PHONE = "phone"
    STATUS = "status"
    EXTERNAL_ID = "externalId"
    METADATA = "metadata"
    IGNORE = "ignore"


class Target(NamedTuple):
    """Where one column goes; ``key`` names the external id or the metadata.

    As text ``phone``, ``externalId:crmId``, ``metadata:Recall due``: for forms and storage.
    """

    field: Field
    key: str = ""

    def __str__(self) -> str:
        return f"{self.field}:{self.key}" if self.key else str(self.field)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Undoes ``str``. Raises ValueError for what names no field."""
        name, _, key = text.partition(":")
        return cls(Field(name), key)


_ONCE = frozenset({Field.FIRST_NAME, Field.LAST_NAME, Field.FULL_NAME, Field.STATUS})


def suggest(header: Sequence[str], external_id_keys: Iterable[str] = ()) -> list[Target]:
    """One target for each column, by the names that exporters and people use."""
    keys = {plain(key): key for key in external_id_keys}
    if len(keys) == 1:
        keys["externalid"] = next(iter(keys.values()))
    targets: list[Target] = []
    for name in header:
        known = field_of(name)
        if plain(name) in keys:
            target = Target(Field.EXTERNAL_ID, keys[plain(name)])
        elif known:
            target = Target(Field(known))
        else:
            target = Target(Field.METADATA)
        if target in targets and (target.field in _ONCE or target.field is Field.EXTERNAL_ID):
            target = Target(Field.METADATA)
        targets.append(target)
    fields = {target.field for target in targets}
    if Field.LAST_NAME in fields and Field.FULL_NAME in fields:
        # Patient and Surname: the one name beside a last name is the first name.
        whole = Field.METADATA if Field.FIRST_NAME in fields else Field.FIRST_NAME
        targets = [Target(whole) if t.field is Field.FULL_NAME else t for t in targets]
    return _with_metadata_keys(header, targets)


def _with_metadata_keys(header: Sequence[str], targets: list[Target]) -> list[Target]:
    taken: set[str] = set()
    named = []
    for name, target in zip(header, targets, strict=True):
        if target.field is Field.METADATA:
            key, count = name[:MAX_METADATA_KEY], 1
            while key in taken:
                count += 1
                key = f"{name[: MAX_METADATA_KEY - len(f' ({count})')]} ({count})"
            taken.add(key)
            named.append(Target(Field.METADATA, key))
        else:
            named.append(target)
    return named


def columns_hash(header: Sequence[str]) -> str:
    """What a set of columns is remembered by."""
    return sha256(orjson.dumps(list(header))).hexdigest()


class Mapping:
    """A header with its targets, ready to be applied to many rows.

    ``phone_order`` are the indexes of phone columns, the preferred first; without it the order of
    the columns holds.
    """

    def __init__(
        self, header: Sequence[str], targets: Sequence[Target], phone_order: Sequence[int] = ()
    ):
        self.header = tuple(header)
        self.targets = tuple(targets)

        def columns(wanted: Field) -> list[int]:
            return [index for index, target in enumerate(targets) if target.field is wanted]

        self.singles = [
            (index, str(target.field))
            for index, target in enumerate(targets)
            if target.field in {Field.FIRST_NAME, Field.LAST_NAME, Field.STATUS}
        ]
        self.full_names = columns(Field.FULL_NAME)
        self.emails = columns(Field.EMAIL)
        phones = columns(Field.PHONE)
        preferred = [index for index in phone_order if index in phones]
        self.phones = preferred + [index for index in phones if index not in preferred]
        self.external_ids = [(index, targets[index].key) for index in columns(Field.EXTERNAL_ID)]
        self.metadata = [
            (index, targets[index].key or self.header[index]) for index in columns(Field.METADATA)
        ]

    @property
    def finds_contacts(self) -> bool:
        """Whether any column can tell one contact from another."""
        return bool(self.phones or self.emails or self.external_ids)


@dataclass(slots=True)
class MappedRow:
    """A contact in the shape of the bulk request, and what there is to say about its cells.

    With ``errors`` the row must not be applied; the contact then holds what could be read.
    """

    contact: dict[str, Any] = field(default_factory=dict)
    warnings: list[Note] = field(default_factory=list)
    errors: list[Note] = field(default_factory=list)


def to_contact(values: Sequence[str], mapping: Mapping, default_region: str | None) -> MappedRow:
    """One row of text as a contact: keys ``firstName lastName email phone status
    contactMetadata externalIdKey externalIdValue``, those without a value left out."""
    row = MappedRow()
    metadata = _metadata(values, mapping, row)
    _names(values, mapping, row)
    _emails(values, mapping, row, metadata)
    _phones(values, mapping, row, metadata, default_region)
    _external_id(values, mapping, row, metadata)
    if metadata:
        row.contact["contactMetadata"] = metadata
    return row


def _metadata(values: Sequence[str], mapping: Mapping, row: MappedRow) -> dict[str, str]:
    """Every cell as it stands: words like "none" may mean something there."""
    metadata = {}
    for index, key in mapping.metadata:
        text = values[index].strip()
        if not text:
            continue
        note = unusable(text, index)
        if note is None:
            metadata[key] = text
        elif note.code == "cell_error":
            row.warnings.append(Note(index, "placeholder_value", f"“{text}” counts as empty."))
        else:
            row.errors.append(note)
    return metadata


def _names(values: Sequence[str], mapping: Mapping, row: MappedRow) -> None:
    for index, name in mapping.singles:
        if text := _text(values, index, row):
            row.contact[name] = text
    for index in mapping.full_names:
        if text := _text(values, index, row):
            first, last = split_name(text)
            row.contact.setdefault("firstName", first)
            if last:
                row.contact.setdefault("lastName", last)


def _external_id(
    values: Sequence[str], mapping: Mapping, row: MappedRow, metadata: dict[str, str]
) -> None:
    """A contact carries one pair: the first column with a value. Others become metadata."""
    for index, key in mapping.external_ids:
        text = _text(values, index, row)
        if text and "externalIdKey" in row.contact:
            metadata[mapping.header[index]] = text
        elif text:
            row.contact["externalIdKey"], row.contact["externalIdValue"] = key, text


def _text(values: Sequence[str], index: int, row: MappedRow) -> str:
    """The cell without spaces around it; empty when it holds nothing that can be kept."""
    text = values[index].strip()
    if not text:
        return ""
    if note := placeholder(text, index):
        row.warnings.append(note)
        return ""
    if note := unusable(text, index):
        row.errors.append(note)
        return ""
    return text


def _emails(
    values: Sequence[str], mapping: Mapping, row: MappedRow, metadata: dict[str, str]
) -> None:
    """Form is the rule of whoever stores the contact; here it only chooses among columns."""
    cells = [(i, text) for i in mapping.emails if (text := _text(values, i, row))]
    for index, text in cells:
        if text.count("@") > 1 and len(text.replace(";", " ").replace(",", " ").split()) > 1:
            message = "Several e-mail addresses in one cell: keep one."
            row.errors.append(Note(index, "several_emails", message))
            return
    if not cells:
        return
    chosen = next((cell for cell in cells if is_email(cell[1])), cells[0])
    row.contact["email"] = chosen[1]
    for index, text in cells:
        if index != chosen[0] and text.casefold() != chosen[1].casefold():
            metadata[mapping.header[index]] = text
            code = "several_emails" if is_email(text) else "email_dropped"
            message = f"{chosen[1]} is used; this address is kept as information only."
            row.warnings.append(Note(index, code, message))


def _phones(
    values: Sequence[str],
    mapping: Mapping,
    row: MappedRow,
    metadata: dict[str, str],
    default_region: str | None,
) -> None:
    cells = [
        (index, text, read_phone(text, index, default_region))
        for index in mapping.phones
        if (text := _text(values, index, row))
    ]
    chosen = next((cell for cell in cells if cell[2].number), None)
    if chosen is None:
        row.errors.extend(cell.error for _, _, cell in cells if cell.error)
        return
    index, _, phone = chosen
    row.contact["phone"] = phone.number
    if phone.extension:
        metadata[EXTENSION_KEY] = phone.extension
        message = f"Kept without its extension {phone.extension}, which is kept as information."
        row.warnings.append(Note(index, "extension_dropped", message))
    if phone.warning:
        row.warnings.append(phone.warning)
    for other, text, cell in cells:
        if other != index and (cell.number is None or cell.number != phone.number):
            metadata[mapping.header[other]] = text
            row.warnings.append(_set_aside(other, cell, str(phone.number)))


def _set_aside(column: int, cell: PhoneCell, used: str) -> Note:
    if cell.error:
        message = f"{cell.error.message} {used} is used instead."
        return Note(column, "phone_dropped", message, cell.error.reason or cell.error.code)
    return Note(column, "several_phones", f"{used} is used; this number is kept as information.")
