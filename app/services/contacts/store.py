"""The storage of contacts: reading and writing whole sets, never a row at a time."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from sqlalchemy import Connection

from app.services.contacts.contact_index import CurrentContact, ExternalIdRow
from app.services.contacts.rules import ContactRules
from app.services.contacts.store_postgresql import PostgresqlStore
from app.services.contacts.store_sqlite import SqliteStore


class ContactSource(Protocol):
    """The contacts of one campaign, for reading."""

    def is_empty(self) -> bool:
        """Return whether the campaign has no contact at all, so that all lookups can be skipped."""

    def find_by_id(self, contact_ids: Sequence[str]) -> list[CurrentContact]: ...

    def find_by_phone(self, phones: Sequence[str]) -> list[CurrentContact]: ...

    def find_by_email(self, email_keys: Sequence[str]) -> list[CurrentContact]: ...

    def find_identified(self, identities: Sequence[tuple[str, str]]) -> list[CurrentContact]:
        """Return the contacts that (key, value) pairs identify."""

    def external_ids(self, contact_ids: Sequence[str]) -> list[ExternalIdRow]: ...


class ContactStore(ContactSource, Protocol):
    """The contacts of one campaign, written only under its lock (see `campaigns.lock`).

    On PostgreSQL every method is a fixed number of statements; on SQLite, which has no network
    latency, writing takes a statement for every few hundred rows.
    """

    def insert(self, contacts: Sequence[CurrentContact], now: datetime) -> None: ...

    def update_details(self, contacts: Sequence[CurrentContact], now: datetime) -> None:
        """Write names, status and metadata."""

    def update_identifiers(self, contacts: Sequence[CurrentContact], now: datetime) -> None:
        """Write phones and emails."""

    def vacate(self, contacts: Sequence[CurrentContact]) -> None:
        """Free the phones and emails of contacts that are about to exchange theirs: the databases
        check unique keys row by row."""

    def delete(self, contact_ids: Sequence[str]) -> None: ...

    def delete_external_ids(self, rows: Sequence[ExternalIdRow]) -> None: ...

    def insert_external_ids(self, rows: Sequence[ExternalIdRow]) -> None: ...


def open_store(connection: Connection, rules: ContactRules) -> ContactStore:
    if connection.dialect.name == "sqlite":
        return SqliteStore(connection, rules)
    return PostgresqlStore(connection, rules)
