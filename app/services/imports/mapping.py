"""What the columns of a file become: one target each."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any, NamedTuple, Self

import orjson

from app.services.imports.aliases import CALLING_CODE, plain
from app.services.imports.contact_cells import Note

MAX_METADATA_KEY = 64


class Field(StrEnum):
    """What a column can hold."""

    FIRST_NAME = "firstName"
    LAST_NAME = "lastName"
    FULL_NAME = "fullName"
    EMAIL = "email"
    PHONE = "phone"
    STATUS = "status"
    DO_NOT_CALL = "doNotCall"
    EXTERNAL_ID = "externalId"
    EXTERNAL_ID_KEY = "externalIdKey"
    EXTERNAL_ID_VALUE = "externalIdValue"
    METADATA = "metadata"
    EXACT = "contactJson"
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


PAIR = (Field.EXTERNAL_ID_KEY, Field.EXTERNAL_ID_VALUE)
"""Columns whose cells name an external id and give its value, as the API does it."""
ONCE = frozenset({Field.FIRST_NAME, Field.LAST_NAME, Field.FULL_NAME, Field.STATUS, *PAIR})


_NO_VOICE = re.compile("fax|pager|modem|télécopie|telex", re.IGNORECASE)


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
            if target.field in ONCE - {Field.FULL_NAME}
        ]
        self.full_names = columns(Field.FULL_NAME)
        self.emails = columns(Field.EMAIL)
        phones = columns(Field.PHONE)
        preferred = [index for index in phone_order if index in phones]
        self.phones = preferred + [index for index in phones if index not in preferred]
        self._kinds_of_phones = _kinds_of_phones(self.header, self.phones)
        self.external_ids = [(index, targets[index].key) for index in columns(Field.EXTERNAL_ID)]
        self.exact = columns(Field.EXACT)
        self.do_not_call = columns(Field.DO_NOT_CALL)
        self.keys = tuple(name[:MAX_METADATA_KEY] for name in self.header)
        """What a column is called where a value of it becomes metadata on the side."""
        metadata = columns(Field.METADATA)
        self.calling_codes = [i for i in metadata if plain(self.header[i]) in CALLING_CODE]
        self.metadata = [(index, targets[index].key or self.header[index]) for index in metadata]

    def faxes(self, values: Sequence[str]) -> list[int]:
        """The phone columns in which a row has what the column beside them calls a fax."""
        return [phone for phone, kind in self._kinds_of_phones if _NO_VOICE.search(values[kind])]

    @property
    def finds_contacts(self) -> bool:
        """Whether any column can tell one contact from another."""
        pair = set(PAIR) <= {target.field for target in self.targets}
        return bool(self.phones or self.emails or self.external_ids or pair)


def _kinds_of_phones(header: Sequence[str], phones: Sequence[int]) -> list[tuple[int, int]]:
    """Phone columns with those that say what their numbers are: ``Phone 1 - Label`` beside ``Phone
    1 - Value``, ``Phone Type`` beside ``Phone``."""
    places = {plain(name): index for index, name in enumerate(header)}
    names = ((index, plain(header[index]).removesuffix("value")) for index in phones)
    kinds = ((index, places.get(f"{n}label", places.get(f"{n}type"))) for index, n in names)
    return [(index, kind) for index, kind in kinds if kind is not None]


@dataclass(slots=True)
class MappedRow:
    """A contact in the shape of the bulk request, and what there is to say about its cells.

    With ``errors`` the row must not be applied; the contact then holds what could be read.
    ``assumed_country`` says that its phone was written without a country code, ``ordinary`` that
    there is nothing to look for in any cell (see `are_ordinary`).
    """

    contact: dict[str, Any] = field(default_factory=dict)
    warnings: list[Note] = field(default_factory=list)
    errors: list[Note] = field(default_factory=list)
    assumed_country: bool = False
    ordinary: bool = field(default=False, compare=False)
