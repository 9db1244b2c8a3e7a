"""The mapping of columns: one target each, chosen by users or suggested (`suggestions`)."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any, NamedTuple, Self

import orjson

from app.contact_files.column_names import CALLING_CODE, made_name, normalized_name
from app.schemas.checks import MAX_METADATA_KEY
from app.services.imports.cells import CellNote

PROBLEM_COLUMN = "Problem"
_NO_VOICE = re.compile("fax|pager|modem|télécopie|telex", re.IGNORECASE)


class TargetField(StrEnum):
    """The meaning of a column."""

    FIRST_NAME = "firstName"
    LAST_NAME = "lastName"
    FULL_NAME = "fullName"
    EMAIL = "email"
    PHONE = "phone"
    COUNTRY_CODE = "countryCode"
    STATUS = "status"
    DO_NOT_CALL = "doNotCall"
    EXTERNAL_ID = "externalId"
    EXTERNAL_ID_KEY = "externalIdKey"
    EXTERNAL_ID_VALUE = "externalIdValue"
    METADATA = "metadata"
    EXACT = "contactJson"
    IGNORE = "ignore"


class ColumnTarget(NamedTuple):
    """Where one column goes; ``key`` names the external id or the metadata.

    As text ``phone``, ``externalId:crmId``, ``metadata:Recall due``: for forms and storage.
    """

    field: TargetField
    key: str = ""

    def __str__(self) -> str:
        return f"{self.field}:{self.key}" if self.key else str(self.field)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Undo ``str``. Raises ValueError for an unknown field."""
        name, _, key = text.partition(":")
        return cls(TargetField(name), key)


PAIR = (TargetField.EXTERNAL_ID_KEY, TargetField.EXTERNAL_ID_VALUE)
"""Columns whose cells name an external id and give its value, as in the API."""
ONCE = frozenset(
    {
        TargetField.FIRST_NAME,
        TargetField.LAST_NAME,
        TargetField.FULL_NAME,
        TargetField.STATUS,
        *PAIR,
    }
)


def problem_column(header: Sequence[str]) -> int | None:
    """Return the index of the column that the file of failed rows has added, if any: only columns
    without a name follow it, for cells beyond the last column."""
    last = len(header) - 1
    while last > 0 and header[last] == made_name(last):
        last -= 1
    return last if header[last] == PROBLEM_COLUMN else None


def columns_hash(header: Sequence[str]) -> str:
    """Return the key under which the choice for these columns is remembered."""
    return sha256(orjson.dumps(list(header))).hexdigest()


class HeaderMapping:
    """A header with its targets, ready for many rows.

    ``phone_order`` has the indexes of phone columns, the preferred first; the default is the order
    of the columns.
    """

    def __init__(
        self,
        header: Sequence[str],
        targets: Sequence[ColumnTarget],
        phone_order: Sequence[int] = (),
    ):
        self.header = tuple(header)
        self.targets = tuple(targets)

        def columns(kind: TargetField) -> list[int]:
            return [index for index, target in enumerate(targets) if target.field is kind]

        self.singles = [
            (index, str(target.field))
            for index, target in enumerate(targets)
            if target.field in ONCE - {TargetField.FULL_NAME}
        ]
        self.full_names = columns(TargetField.FULL_NAME)
        self.emails = columns(TargetField.EMAIL)
        phones = columns(TargetField.PHONE)
        preferred = [index for index in phone_order if index in phones]
        self.phones = preferred + [index for index in phones if index not in preferred]
        self._kinds_of_phones = _kinds_of_phones(self.header, self.phones)
        self.external_ids = [
            (index, targets[index].key) for index in columns(TargetField.EXTERNAL_ID)
        ]
        self.exact = columns(TargetField.EXACT)
        self.do_not_call = columns(TargetField.DO_NOT_CALL)
        self.keys = tuple(name[:MAX_METADATA_KEY] for name in self.header)
        """The metadata key of each column, for values that are kept in addition."""
        metadata, codes = columns(TargetField.METADATA), columns(TargetField.COUNTRY_CODE)
        named = [index for index in metadata if normalized_name(self.header[index]) in CALLING_CODE]
        self.calling_codes = [*codes, *named]
        self.metadata = [
            *((index, targets[index].key or self.header[index]) for index in metadata),
            *((index, self.keys[index]) for index in codes),
        ]

    def faxes(self, values: Sequence[str]) -> list[int]:
        """Return the phone columns that another column of the row labels as a fax."""
        return [phone for phone, kind in self._kinds_of_phones if _NO_VOICE.search(values[kind])]

    @property
    def has_names(self) -> bool:
        """Whether any column is a name or a part of it."""
        fields = {target.field for target in self.targets}
        return bool(fields & {TargetField.FULL_NAME, TargetField.FIRST_NAME, TargetField.LAST_NAME})

    @property
    def finds_contacts(self) -> bool:
        """Whether any column can identify contacts."""
        pair = set(PAIR) <= {target.field for target in self.targets}
        return bool(self.phones or self.emails or self.external_ids or pair)


def _kinds_of_phones(header: Sequence[str], phones: Sequence[int]) -> list[tuple[int, int]]:
    """Return phone columns with the columns that describe them: ``Phone 1 - Label`` for ``Phone 1 -
    Value``, ``Phone Type`` for ``Phone``."""
    positions = {normalized_name(name): index for index, name in enumerate(header)}
    names = ((index, normalized_name(header[index]).removesuffix("value")) for index in phones)
    kinds = ((index, positions.get(f"{n}label", positions.get(f"{n}type"))) for index, n in names)
    return [(index, kind) for index, kind in kinds if kind is not None]


@dataclass(slots=True)
class MappedRow:
    """A contact in the shape of the bulk request, and the notes on its cells.

    A row with ``errors`` must not be applied; its contact has what could be read.
    ``assumed_country``: its phone has no country code. ``ordinary``: no cell needs a closer look
    (see `are_ordinary`).
    """

    contact: dict[str, Any] = field(default_factory=dict)
    warnings: list[CellNote] = field(default_factory=list)
    errors: list[CellNote] = field(default_factory=list)
    assumed_country: bool = False
    ordinary: bool = field(default=False, compare=False)


def free_key(name: str, used_keys: Collection[str]) -> str:
    """Return the name of a column as a key of metadata, with a number if the key is taken."""
    key, count = name[:MAX_METADATA_KEY], 1
    while key in used_keys:
        count += 1
        key = f"{name[: MAX_METADATA_KEY - len(f' ({count})')]} ({count})"
    return key
