"""Contacts in PostgreSQL: rows and changes are sent by COPY, and written by one statement from
there.

COPY goes to temporary tables, because PostgreSQL refuses it on tables with row-level security.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, cast

from psycopg import Connection as Psycopg
from sqlalchemy import Connection

from app.services.contacts.contact_index import CurrentContact, ExternalIdRow, fetch, to_json
from app.services.contacts.rules import ContactRules

_ANY = "SELECT 1 FROM contacts WHERE campaign_id = %s LIMIT 1"
_COLUMNS = (
    "c.id::text, c.phone, c.email, c.email_key, c.first_name, c.last_name, c.status, "
    "c.contact_metadata::text"
)
# Phones, emails and ids contain no line ends, and one text is much cheaper to send than an array.
_LISTED = r"string_to_array(%s, E'\n')"
_FIND_BY_PHONE = f"""
SELECT {_COLUMNS} FROM contacts c WHERE c.campaign_id = %s AND c.phone = ANY ({_LISTED})
"""
_FIND_BY_EMAIL = f"""
SELECT {_COLUMNS} FROM contacts c WHERE c.campaign_id = %s AND c.email_key = ANY ({_LISTED})
"""
_FIND_BY_ID = f"""
SELECT {_COLUMNS} FROM contacts c WHERE c.campaign_id = %s AND c.id = ANY ({_LISTED}::uuid[])
"""
_FIND_IDENTIFIED = f"""
SELECT {_COLUMNS}
FROM json_array_elements(%s::json) pair
JOIN contact_external_ids e
  ON e.campaign_id = %s AND e.key = pair->>0 AND e.value = pair->>1 AND e.identifies
JOIN contacts c ON c.id = e.contact_id
"""
_EXTERNAL_IDS = f"""
SELECT contact_id::text, key, value, identifies FROM contact_external_ids
WHERE contact_id = ANY ({_LISTED}::uuid[])
"""
_DELETE = f"DELETE FROM contacts WHERE id = ANY ({_LISTED}::uuid[])"
_DELETE_EXTERNAL_IDS = """
DELETE FROM contact_external_ids e USING json_array_elements(%s::json) pair
WHERE e.contact_id = (pair->>0)::uuid AND e.key = pair->>1
"""
_VACATE = f"""
UPDATE contacts SET phone = '~' || substr(md5(id::text), 1, 15), email = '~' || id,
  email_key = '~' || id
WHERE id = ANY ({_LISTED}::uuid[])
"""
_COPY_CONTACTS = """
COPY contact_changes (id, phone, email, email_key, first_name, last_name, search_name, status,
  contact_metadata)
FROM STDIN
"""
_INSERT = """
INSERT INTO contacts (id, phone, email, email_key, first_name, last_name, search_name, status,
  contact_metadata, organization_id, campaign_id, created_at, updated_at)
SELECT id, phone, email, email_key, first_name, last_name, search_name, status, contact_metadata,
  %s, %s, %s, %s
FROM contact_changes
"""
# One for each connection and emptied by every commit: creating it again each time would fill the
# catalogue with dead rows.
_CREATE_CHANGES = """
CREATE TEMPORARY TABLE IF NOT EXISTS contact_changes (
  id uuid, phone text, email text, email_key text,
  first_name text, last_name text, search_name text, status text, contact_metadata json
) ON COMMIT DELETE ROWS
"""
_CLEAR_CHANGES = "TRUNCATE contact_changes"
_COPY_DETAILS = """
COPY contact_changes (id, first_name, last_name, search_name, status, contact_metadata) FROM STDIN
"""
_UPDATE_DETAILS = """
UPDATE contacts c SET updated_at = %s, first_name = v.first_name, last_name = v.last_name,
  search_name = v.search_name, status = v.status, contact_metadata = v.contact_metadata
FROM contact_changes v WHERE c.id = v.id
"""
_COPY_IDENTIFIERS = "COPY contact_changes (id, phone, email, email_key) FROM STDIN"
_UPDATE_IDENTIFIERS = """
UPDATE contacts c SET updated_at = %s, phone = v.phone, email = v.email, email_key = v.email_key
FROM contact_changes v WHERE c.id = v.id
"""
_CREATE_EXTERNAL_IDS = """
CREATE TEMPORARY TABLE IF NOT EXISTS contact_external_id_changes (
  contact_id uuid, key text, value text, identifies boolean
) ON COMMIT DELETE ROWS
"""
_CLEAR_EXTERNAL_IDS = "TRUNCATE contact_external_id_changes"
_COPY_EXTERNAL_IDS = """
COPY contact_external_id_changes (contact_id, key, value, identifies) FROM STDIN
"""
_INSERT_EXTERNAL_IDS = """
INSERT INTO contact_external_ids (contact_id, key, value, identifies, campaign_id)
SELECT contact_id, key, value, identifies, %s FROM contact_external_id_changes
"""


class PostgresqlStore:
    """See `ContactStore`."""

    def __init__(self, connection: Connection, rules: ContactRules):
        self._connection = connection
        self._campaign_id = str(rules.campaign_id)
        self._organization_id = str(rules.organization_id)

    def is_empty(self) -> bool:
        return not fetch(self._connection, _ANY, self._campaign_id)

    def find_by_id(self, contact_ids: Sequence[str]) -> list[CurrentContact]:
        return self._find(_FIND_BY_ID, self._campaign_id, "\n".join(contact_ids))

    def find_by_phone(self, phones: Sequence[str]) -> list[CurrentContact]:
        return self._find(_FIND_BY_PHONE, self._campaign_id, "\n".join(phones))

    def find_by_email(self, email_keys: Sequence[str]) -> list[CurrentContact]:
        return self._find(_FIND_BY_EMAIL, self._campaign_id, "\n".join(email_keys))

    def find_identified(self, identities: Sequence[tuple[str, str]]) -> list[CurrentContact]:
        return self._find(_FIND_IDENTIFIED, to_json(identities), self._campaign_id)

    def external_ids(self, contact_ids: Sequence[str]) -> list[ExternalIdRow]:
        rows = fetch(self._connection, _EXTERNAL_IDS, "\n".join(contact_ids))
        return [ExternalIdRow(*row) for row in rows]

    def insert(self, contacts: Sequence[CurrentContact], now: datetime) -> None:
        rows = ((c.id, *c.identifiers, *c.details) for c in contacts)
        self._execute(_CREATE_CHANGES)
        self._copy(_COPY_CONTACTS, rows)
        self._execute(_INSERT, self._organization_id, self._campaign_id, now, now)
        self._execute(_CLEAR_CHANGES)

    def update_details(self, contacts: Sequence[CurrentContact], now: datetime) -> None:
        rows = ((c.id, *c.details) for c in contacts)
        self._update(_COPY_DETAILS, rows, _UPDATE_DETAILS, now)

    def update_identifiers(self, contacts: Sequence[CurrentContact], now: datetime) -> None:
        rows = ((c.id, *c.identifiers) for c in contacts)
        self._update(_COPY_IDENTIFIERS, rows, _UPDATE_IDENTIFIERS, now)

    def vacate(self, contacts: Sequence[CurrentContact]) -> None:
        self._execute(_VACATE, "\n".join(c.id or "" for c in contacts))

    def delete(self, contact_ids: Sequence[str]) -> None:
        self._execute(_DELETE, "\n".join(contact_ids))

    def delete_external_ids(self, rows: Sequence[ExternalIdRow]) -> None:
        self._execute(_DELETE_EXTERNAL_IDS, to_json((row.contact_id, row.key) for row in rows))

    def insert_external_ids(self, rows: Sequence[ExternalIdRow]) -> None:
        self._execute(_CREATE_EXTERNAL_IDS)
        self._copy(_COPY_EXTERNAL_IDS, rows)
        self._execute(_INSERT_EXTERNAL_IDS, self._campaign_id)
        self._execute(_CLEAR_EXTERNAL_IDS)

    def _update(
        self, copy: str, rows: Iterable[tuple[Any, ...]], update: str, now: datetime
    ) -> None:
        self._execute(_CREATE_CHANGES)
        self._copy(copy, rows)
        self._execute(update, now)
        self._execute(_CLEAR_CHANGES)

    def _copy(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        driver = cast(Psycopg, self._connection.connection.driver_connection)
        with driver.cursor() as cursor, cursor.copy(statement.encode()) as copy:
            for row in rows:
                copy.write_row(row)

    def _find(self, query: str, *parameters: Any) -> list[CurrentContact]:
        rows = fetch(self._connection, query, *parameters)
        return [CurrentContact.from_columns(row[0], row[1:]) for row in rows]

    def _execute(self, statement: str, *parameters: Any) -> None:
        self._connection.exec_driver_sql(statement, parameters)
