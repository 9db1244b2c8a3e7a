"""Contacts in SQLite: lists are sent as one JSON text, new rows as VALUES of some hundreds, changes
as one statement that is run for each row."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from sqlalchemy import Connection

from app.services.contacts.contact_index import CurrentContact, ExternalIdRow, fetch, to_json
from app.services.contacts.rules import ContactRules

ROWS_A_STATEMENT = 500
"""Rows per statement: more are no faster; a statement has at most 32,766 values."""

_ANY = "SELECT 1 FROM contacts WHERE campaign_id = ? LIMIT 1"
_COLUMNS = (
    "c.id, c.phone, c.email, c.email_key, c.first_name, c.last_name, c.status, c.contact_metadata"
)
# CROSS JOIN fixes the order: each listed value is looked up in the index of the contacts.
_FIND = f"""
SELECT {_COLUMNS} FROM json_each(?) j CROSS JOIN contacts c WHERE c.campaign_id = ?
"""
_FIND_BY_PHONE = f"{_FIND} AND c.phone = j.value"
_FIND_BY_EMAIL = f"{_FIND} AND c.email_key = j.value"
_FIND_BY_ID = f"{_FIND} AND c.id = j.value"
_FIND_IDENTIFIED = f"""
SELECT {_COLUMNS} FROM json_each(?) j
CROSS JOIN contact_external_ids e
  ON e.campaign_id = ? AND e.key = j.value->>0 AND e.value = j.value->>1 AND e.identifies
CROSS JOIN contacts c ON c.id = e.contact_id
"""
_EXTERNAL_IDS = """
SELECT e.contact_id, e.key, e.value, e.identifies
FROM json_each(?) j CROSS JOIN contact_external_ids e WHERE e.contact_id = j.value
"""
_DELETE = "DELETE FROM contacts WHERE id IN (SELECT value FROM json_each(?))"
_DELETE_EXTERNAL_IDS = """
DELETE FROM contact_external_ids
WHERE (contact_id, key) IN (SELECT value->>0, value->>1 FROM json_each(?))
"""
_VACATE = """
UPDATE contacts SET phone = '~' || rowid, email = '~' || rowid, email_key = '~' || rowid
WHERE id IN (SELECT value FROM json_each(?))
"""
_INSERT = """
INSERT INTO contacts (organization_id, campaign_id, created_at, updated_at,
  id, phone, email, email_key, first_name, last_name, search_name, status, contact_metadata)
SELECT ?, ?, ?, ?, v.* FROM ({values}) v
"""
# An UPDATE from VALUES copies all data before it writes it, and takes twice as long.
_UPDATE_DETAILS = """
UPDATE contacts SET updated_at = ?, first_name = ?, last_name = ?, search_name = ?, status = ?,
  contact_metadata = ?
WHERE id = ?
"""
_UPDATE_IDENTIFIERS = """
UPDATE contacts SET updated_at = ?, phone = ?, email = ?, email_key = ? WHERE id = ?
"""
_INSERT_EXTERNAL_IDS = """
INSERT INTO contact_external_ids (campaign_id, contact_id, key, value, identifies)
SELECT ?, v.* FROM ({values}) v
"""


class SqliteStore:
    """See `ContactStore`."""

    def __init__(self, connection: Connection, rules: ContactRules):
        self._connection = connection
        self._campaign_id = rules.campaign_id.hex
        self._organization_id = rules.organization_id.hex

    def is_empty(self) -> bool:
        return not fetch(self._connection, _ANY, self._campaign_id)

    def find_by_id(self, contact_ids: Sequence[str]) -> list[CurrentContact]:
        return self._find(_FIND_BY_ID, map(_hex, contact_ids))

    def find_by_phone(self, phones: Sequence[str]) -> list[CurrentContact]:
        return self._find(_FIND_BY_PHONE, phones)

    def find_by_email(self, email_keys: Sequence[str]) -> list[CurrentContact]:
        return self._find(_FIND_BY_EMAIL, email_keys)

    def find_identified(self, identities: Sequence[tuple[str, str]]) -> list[CurrentContact]:
        return self._find(_FIND_IDENTIFIED, identities)

    def external_ids(self, contact_ids: Sequence[str]) -> list[ExternalIdRow]:
        rows = fetch(self._connection, _EXTERNAL_IDS, to_json(map(_hex, contact_ids)))
        return [
            ExternalIdRow(_hyphenated(contact_id), key, value, bool(identifies))
            for contact_id, key, value, identifies in rows
        ]

    def insert(self, contacts: Sequence[CurrentContact], now: datetime) -> None:
        moment = _format_time(now)
        rows = [(_hex(c.id), *c.identifiers, *c.details) for c in contacts]
        self._write(_INSERT, (self._organization_id, self._campaign_id, moment, moment), rows)

    def update_details(self, contacts: Sequence[CurrentContact], now: datetime) -> None:
        moment = _format_time(now)
        rows = [(moment, *c.details, _hex(c.id)) for c in contacts]
        self._connection.exec_driver_sql(_UPDATE_DETAILS, rows)

    def update_identifiers(self, contacts: Sequence[CurrentContact], now: datetime) -> None:
        moment = _format_time(now)
        rows = [(moment, *c.identifiers, _hex(c.id)) for c in contacts]
        self._connection.exec_driver_sql(_UPDATE_IDENTIFIERS, rows)

    def vacate(self, contacts: Sequence[CurrentContact]) -> None:
        ids = to_json(_hex(c.id) for c in contacts)
        self._connection.exec_driver_sql(_VACATE, (ids,))

    def delete(self, contact_ids: Sequence[str]) -> None:
        self._connection.exec_driver_sql(_DELETE, (to_json(map(_hex, contact_ids)),))

    def delete_external_ids(self, rows: Sequence[ExternalIdRow]) -> None:
        pairs = to_json((_hex(row.contact_id), row.key) for row in rows)
        self._connection.exec_driver_sql(_DELETE_EXTERNAL_IDS, (pairs,))

    def insert_external_ids(self, rows: Sequence[ExternalIdRow]) -> None:
        values = [(_hex(row.contact_id), *row[1:]) for row in rows]
        self._write(_INSERT_EXTERNAL_IDS, (self._campaign_id,), values)

    def _find(self, query: str, values: Iterable[Any]) -> list[CurrentContact]:
        rows = fetch(self._connection, query, to_json(values), self._campaign_id)
        return [CurrentContact.from_columns(_hyphenated(row[0]), row[1:]) for row in rows]

    def _write(self, sql: str, first: tuple[Any, ...], rows: Sequence[tuple[Any, ...]]) -> None:
        """Run ``sql`` with ``first`` and some hundred rows at a time."""
        row = f"({', '.join('?' * len(rows[0]))})"
        for start in range(0, len(rows), ROWS_A_STATEMENT):
            chunk = rows[start : start + ROWS_A_STATEMENT]
            values = f"VALUES {', '.join([row] * len(chunk))}"
            parameters = (*first, *chain.from_iterable(chunk))
            self._connection.exec_driver_sql(sql.format(values=values), parameters)


def _hex(identifier: str | None) -> str:
    return (identifier or "").replace("-", "")


def _hyphenated(text: str) -> str:
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _format_time(now: datetime) -> str:
    """Return a moment in SQLAlchemy's format."""
    return now.strftime("%Y-%m-%d %H:%M:%S.%f")
