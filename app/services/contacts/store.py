"""What contacts need of a database: reading and writing whole sets, never a row at a time."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from sqlalchemy import Connection

from app.services.contacts.contact_index import ExternalIdRow, Stored
from app.services.contacts.rules import Rules
from app.services.contacts.store_postgresql import PostgresqlStore
from app.services.contacts.store_sqlite import SqliteStore


class Source(Protocol):
    """The contacts of one campaign, as far as they are looked up."""

    def is_empty(self) -> bool:
        """Whether the campaign has no contact at all, so that nothing need be looked for."""

    def find_by_id(self, contact_ids: Sequence[str]) -> list[Stored]: ...

    def find_by_phone(self, phones: Sequence[str]) -> list[Stored]: ...

    def find_by_email(self, email_keys: Sequence[str]) -> list[Stored]: ...

    def find_identified(self, identities: Sequence[tuple[str, str]]) -> list[Stored]:
        """The contacts that (key, value) pairs identify."""

    def external_ids(self, contact_ids: Sequence[str]) -> list[ExternalIdRow]: ...


class Store(Source, Protocol):
    """The contacts of one campaign, written only under its lock (see `campaigns.lock`).

    On PostgreSQL every method is a fixed number of statements; on SQLite, which has no network
    in between, writing rows is a statement for every few hundred.
    """

    def insert(self, contacts: Sequence[Stored], now: datetime) -> None: ...

    def update_details(self, contacts: Sequence[Stored], now: datetime) -> None:
        """Writes names, status and metadata."""

    def update_identifiers(self, contacts: Sequence[Stored], now: datetime) -> None:
        """Writes phones and e-mails."""

    def vacate(self, contacts: Sequence[Stored]) -> None:
        """Frees the phones and e-mails of contacts that are about to exchange theirs: the
        databases check unique keys row by row."""

    def delete(self, contact_ids: Sequence[str]) -> None: ...

    def delete_external_ids(self, rows: Sequence[ExternalIdRow]) -> None: ...

    def insert_external_ids(self, rows: Sequence[ExternalIdRow]) -> None: ...


def open_store(connection: Connection, rules: Rules) -> Store:
    if connection.dialect.name == "sqlite":
        return SqliteStore(connection, rules)
    return PostgresqlStore(connection, rules)
