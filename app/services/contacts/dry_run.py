"""A dry run: what a file would do to a campaign, a chunk at a time, without doing it.

Each chunk is planned by the code that applies it, against the campaign and the result of the chunks
before. That is kept in a temporary database, so that memory doesn't grow with the file.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

from sqlalchemy.orm import Session

from app.database import open_scratch
from app.enums import ContactAction
from app.services.contacts.apply import listed_phones, load
from app.services.contacts.contact_index import (
    Columns,
    CurrentContact,
    ExternalIdRow,
    HeldId,
    RowIdentity,
    to_json,
)
from app.services.contacts.incoming import ContactReader, IncomingContact
from app.services.contacts.plan import ChangePlan
from app.services.contacts.results import BulkResult
from app.services.contacts.rules import ContactRules
from app.services.contacts.store import ContactSource, open_store

_TABLES = (
    """
CREATE TABLE contacts (
  position INTEGER PRIMARY KEY, id TEXT, phone TEXT, email TEXT, email_key TEXT, first_name TEXT,
  last_name TEXT, status TEXT, metadata TEXT, row_number INTEGER, row_phone TEXT, row_email TEXT,
  row_identity TEXT, original INTEGER, is_as_before INTEGER)
""",
    "CREATE INDEX by_id ON contacts (id) WHERE id IS NOT NULL",
    "CREATE INDEX by_phone ON contacts (phone) WHERE phone IS NOT NULL",
    "CREATE INDEX by_email ON contacts (email_key) WHERE email_key IS NOT NULL",
    """
CREATE TABLE external_ids (
  position INTEGER, key TEXT, value TEXT, identifies INTEGER, PRIMARY KEY (position, key))
WITHOUT ROWID
""",
    "CREATE INDEX by_identity ON external_ids (value, key) WHERE identifies",
    "CREATE TABLE repeated_rows (row_number INTEGER PRIMARY KEY, position INTEGER)",
)
_FIND = """
SELECT c.position, c.id, c.original, c.phone, coalesce(c.email, c.email_key), c.email_key,
  c.first_name, c.last_name, c.status, c.metadata, c.row_number, coalesce(c.row_phone, c.phone),
  coalesce(c.row_email, c.email_key), c.row_identity
FROM json_each(?) j
"""
_BY_PHONE = f"{_FIND} CROSS JOIN contacts c WHERE c.phone = j.value"
_BY_EMAIL = f"{_FIND} CROSS JOIN contacts c WHERE c.email_key = j.value"
_BY_IDENTITY = f"""{_FIND}
CROSS JOIN external_ids e ON e.value = j.value->>1 AND e.key = j.value->>0 AND e.identifies
CROSS JOIN contacts c ON c.position = e.position
"""
_KNOWN = "SELECT c.id FROM json_each(?) j CROSS JOIN contacts c WHERE c.id = j.value"
_EXTERNAL_IDS = """
SELECT e.position, e.key, e.value, e.identifies
FROM json_each(?) j CROSS JOIN external_ids e WHERE e.position = j.value
"""
# A row usually has the identifiers of its contact: storing them once saves a fifth of the space.
_KEEP = """
INSERT OR REPLACE INTO contacts
VALUES (?1, nullif(?2, ''), ?3, nullif(?4, ?5), ?5, ?6, ?7, ?8, ?9, ?10, nullif(?11, ?3),
  nullif(?12, ?5), ?13, ?14, ?15)
"""
_KEEP_REPEATED_ROW = "INSERT OR IGNORE INTO repeated_rows VALUES (?, ?)"
_ROWS_WITHOUT_EFFECT = """
SELECT r.row_number FROM repeated_rows r JOIN contacts c ON c.position = r.position
WHERE c.is_as_before ORDER BY r.row_number
"""
_KEEP_EXTERNAL_ID = "INSERT INTO external_ids VALUES (?, ?, ?, ?)"
_FORGET_EXTERNAL_IDS = "DELETE FROM external_ids WHERE position IN (SELECT value FROM json_each(?))"
_NO_ROW = RowIdentity(0, "", "", "")


class DryRun:
    """The effects of a file. Use it in a ``with`` block. It belongs to one thread at a time."""

    def __init__(self, rules: ContactRules, action: ContactAction):
        self._rules = rules
        self._action = action
        self._reader = ContactReader(
            rules, None, removing=action is ContactAction.REMOVE, from_file=True
        )
        self._scratch = _ChangedContacts()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._scratch.close()

    def read(self, item: dict[str, Any]) -> IncomingContact | list[Any]:
        """Read a contact, see `ContactReader.read`."""
        return self._reader.read(item)

    def apply(
        self, session: Session, items: Sequence[dict[str, Any]], row_numbers: Sequence[int]
    ) -> BulkResult:
        """Return the result of `contacts.apply`, except for ids; with ``again``, ``equal`` and
        ``phones_on_list``."""
        readings = [self._reader.read(item) for item in items]
        accepted = [reading for reading in readings if isinstance(reading, IncomingContact)]
        stored = open_store(session.connection(), self._rules)
        source = _DryRunSource(self._scratch, stored)
        phones_on_list = listed_phones(session, self._rules, self._action, accepted)
        plan = ChangePlan(
            load(source, accepted, every_id=bool(self._rules.keys)),
            self._rules,
            self._action,
            refused_phones=phones_on_list if self._rules.refuses_do_not_call else (),
            listed_phones=phones_on_list,
            row_numbers=row_numbers,
            remembers_rows=True,
        )
        for item, reading in zip(items, readings, strict=True):
            plan.add(item, reading)
        result = plan.result(items)
        self._scratch.store(plan.concerned(), result.again, with_ids=bool(self._rules.keys))
        return result

    def rows_without_effect(self, size: int) -> Iterator[list[int]]:
        """Yield the numbers of the rows whose contact several rows change, and the last of them
        back to what it was before the file; up to ``size`` at a time."""
        return self._scratch.rows_without_effect(size)


class _ChangedContacts:
    """The contacts that earlier chunks have changed, in their new state.

    A contact of the campaign has its id here; a new one has its position as its id. Of a removed
    one only the id is left.
    """

    def __init__(self) -> None:
        self._connection = open_scratch()
        for statement in _TABLES:
            self._connection.execute(statement)
        self._connection.execute("BEGIN")
        self._last_position = 0
        self._positions: dict[str, int] = {}
        self._originals: dict[str, int | None] = {}

    def close(self) -> None:
        self._connection.close()

    def is_empty(self) -> bool:
        return self._last_position == 0

    def find(self, query: str, values: Iterable[Any]) -> list[CurrentContact]:
        contacts = []
        for row in self._connection.execute(query, (to_json(values),)):
            position, identifier, original = row[:3]
            contact_id = identifier or str(position)
            self._positions[contact_id] = position
            self._originals[contact_id] = original
            stored = CurrentContact.from_columns(contact_id, row[3:10])
            stored.last_row = RowIdentity(*row[10:])
            contacts.append(stored)
        return contacts

    def known(self, contact_ids: Sequence[str]) -> set[str]:
        """Return the contacts whose state in the campaign is outdated."""
        return {row[0] for row in self._connection.execute(_KNOWN, (to_json(contact_ids),))}

    def position_of(self, contact_id: str) -> int | None:
        return self._positions.get(contact_id)

    def external_ids(self, contact_ids: Iterable[str]) -> list[ExternalIdRow]:
        names = {self._positions[contact_id]: contact_id for contact_id in contact_ids}
        rows = self._connection.execute(_EXTERNAL_IDS, (to_json(names),))
        return [ExternalIdRow(names[row[0]], row[1], row[2], bool(row[3])) for row in rows]

    def store(
        self,
        concerned: Iterable[CurrentContact],
        again: Mapping[int, tuple[RowIdentity, RowIdentity]],
        *,
        with_ids: bool,
    ) -> None:
        """Keep the contacts of a chunk; ``again`` is that of its `BulkResult`."""
        rows = []
        external_ids = []
        replaced = []
        repeated_rows: list[tuple[int, int]] = []
        for stored in concerned:
            stored_position = stored.id and self._positions.get(stored.id)
            if stored_position:
                replaced.append(stored_position)
                position = stored_position
            else:
                position = self._last_position = self._last_position + 1
            identifier = stored.id if stored.before and stored.id != str(position) else ""
            if stored.removed:
                rows.append((position, identifier, *[None] * 13))
                continue
            last_row = stored.last_row or _NO_ROW
            original = self._original(stored)
            is_as_before = original == _hash(_columns(stored), stored.external_ids)
            rows.append(
                (position, identifier, *_columns(stored), *last_row, original, is_as_before)
            )
            repeated_rows += [(number, position) for number in _rows_of(last_row, again)]
            if with_ids:
                external_ids += [
                    (position, key, *pair) for key, pair in (stored.external_ids or {}).items()
                ]
        if with_ids and replaced:
            self._connection.execute(_FORGET_EXTERNAL_IDS, (to_json(replaced),))
        self._connection.executemany(_KEEP, rows)
        self._connection.executemany(_KEEP_EXTERNAL_ID, external_ids)
        self._connection.executemany(_KEEP_REPEATED_ROW, repeated_rows)
        self._originals.clear()
        self._positions.clear()

    def rows_without_effect(self, size: int) -> Iterator[list[int]]:
        rows = self._connection.execute(_ROWS_WITHOUT_EFFECT)
        while part := rows.fetchmany(size):
            yield [number for (number,) in part]

    def _original(self, stored: CurrentContact) -> int | None:
        """Return the hash of the contact before the file; None for a new one."""
        if stored.before is None or stored.id in self._originals:
            return self._originals.get(stored.id or "")
        return _hash(stored.before, stored.external_ids_before)


def _columns(stored: CurrentContact) -> Columns:
    return (
        *(stored.phone, stored.email, stored.email_key, stored.first_name, stored.last_name),
        *(stored.status, stored.metadata),
    )


def _hash(columns: Columns, external_ids: Mapping[str, HeldId] | None) -> int:
    return hash((columns, frozenset((external_ids or {}).items())))


def _rows_of(
    last_row: RowIdentity, again: Mapping[int, tuple[RowIdentity, RowIdentity]]
) -> Iterator[int]:
    """Yield the numbers of the rows about the contact of a row in this chunk, and of the last one
    before it; nothing if there is just one."""
    number = last_row.row_number
    if number in again:
        yield number
    while number in again:
        number = again[number][0].row_number
        yield number


class _DryRunSource:
    """The campaign as changed by the earlier chunks: a `ContactSource`."""

    def __init__(self, scratch: _ChangedContacts, stored: ContactSource):
        self._scratch = scratch
        self._stored = stored
        self._has_stored = not stored.is_empty()

    def is_empty(self) -> bool:
        return self._scratch.is_empty() and not self._has_stored

    def find_by_id(self, contact_ids: Sequence[str]) -> list[CurrentContact]:
        return self._current(self._stored.find_by_id(contact_ids))

    def find_by_phone(self, phones: Sequence[str]) -> list[CurrentContact]:
        contacts = self._scratch.find(_BY_PHONE, phones)
        if self._has_stored:
            contacts += self._current(self._stored.find_by_phone(phones))
        return contacts

    def find_by_email(self, email_keys: Sequence[str]) -> list[CurrentContact]:
        contacts = self._scratch.find(_BY_EMAIL, email_keys)
        if self._has_stored:
            contacts += self._current(self._stored.find_by_email(email_keys))
        return contacts

    def find_identified(self, identities: Sequence[tuple[str, str]]) -> list[CurrentContact]:
        contacts = self._scratch.find(_BY_IDENTITY, identities)
        if self._has_stored:
            contacts += self._current(self._stored.find_identified(identities))
        return contacts

    def external_ids(self, contact_ids: Sequence[str]) -> list[ExternalIdRow]:
        in_scratch = [each for each in contact_ids if self._scratch.position_of(each)]
        in_store = [each for each in contact_ids if not self._scratch.position_of(each)]
        rows = self._scratch.external_ids(in_scratch) if in_scratch else []
        return rows + (self._stored.external_ids(in_store) if in_store else [])

    def _current(self, contacts: list[CurrentContact]) -> list[CurrentContact]:
        if not contacts or self._scratch.is_empty():
            return contacts
        outdated = self._scratch.known([stored.id or "" for stored in contacts])
        return [stored for stored in contacts if stored.id not in outdated]
