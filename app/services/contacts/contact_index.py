"""The contacts of a campaign that a request affects, found by phone, email and external ids."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection

from app.enums import ends_outreach
from app.errors import Problem
from app.models.campaign import search_name
from app.schemas.fields import write_moment

Columns = tuple[str | None, str | None, str | None, str | None, str | None, str | None, str | None]
"""phone, email, email_key, first_name, last_name, status, metadata as JSON text."""


class ExternalIdRow(NamedTuple):
    """A row of the external ids; ``contact_id`` with hyphens."""

    contact_id: str
    key: str
    value: str
    identifies: bool


class HeldId(NamedTuple):
    """A contact's value for one external-id key."""

    value: str
    identifies: bool


class RowIdentity(NamedTuple):
    """The identifiers of a contact in a row of a file; empty if the row has none."""

    row_number: int
    phone: str
    email_key: str
    identity: str


@dataclass(slots=True, eq=False)
class CurrentContact:
    """A contact as changed by the request so far.

    ``before`` is what the database holds, None for a contact that the request creates; its id is
    set when it is written. External ids are None if nothing needs them, and are replaced, never
    changed in place; so are ``times``, when the contact was created and changed. ``last_row`` has
    the identifiers of the last row about the contact, if they are requested.
    """

    phone: str | None
    email: str | None
    email_key: str | None
    first_name: str | None = None
    last_name: str | None = None
    status: str | None = None
    metadata: str | None = None
    id: str | None = None
    before: Columns | None = None
    removed: bool = False
    external_ids: Mapping[str, HeldId] | None = None
    external_ids_before: Mapping[str, HeldId] | None = None
    times: tuple[datetime, datetime] | None = None
    last_row: RowIdentity | None = None

    @classmethod
    def from_columns(cls, identifier: str, columns: Columns) -> "CurrentContact":
        """Return a contact as the database holds it."""
        phone, email, email_key, first_name, last_name, status, metadata = columns
        return cls(
            phone,
            email,
            email_key,
            first_name,
            last_name,
            status,
            metadata,
            identifier,
            columns,
        )

    @property
    def identifiers(self) -> tuple[str | None, ...]:
        """Return the columns that `ContactStore.update_identifiers` writes."""
        return self.phone, self.email, self.email_key

    @property
    def details(self) -> tuple[str | None, ...]:
        """Return the columns that `ContactStore.update_details` writes."""
        return self.first_name, self.last_name, self.search_name, self.status, self.metadata

    @property
    def search_name(self) -> str:
        return search_name(self.first_name, self.last_name)

    @property
    def moved(self) -> bool:
        """Whether phone or email differ from the database."""
        before = self.before
        return before is not None and (self.phone != before[0] or self.email != before[1])

    @property
    def changed(self) -> bool:
        """Whether anything else differs."""
        before = self.before
        return before is not None and (
            self.metadata != before[6]
            or self.first_name != before[3]
            or self.last_name != before[4]
            or self.status != before[5]
            or self.external_ids is not self.external_ids_before
        )

    @property
    def ended(self) -> bool:
        """Whether the request ends the outreach to a contact that existed before."""
        before = self.before
        return before is not None and (
            self.removed
            or (
                self.status != before[5]
                and ends_outreach(self.status)
                and not ends_outreach(before[5])
            )
        )

    @property
    def identities(self) -> list[tuple[str, str]]:
        """The external ids that identify it."""
        return [
            (key, held_id.value)
            for key, held_id in (self.external_ids or {}).items()
            if held_id.identifies
        ]

    def read_only(self) -> dict[str, Any]:
        """Return the read-only fields of the contact; complete only if external ids and times were
        loaded."""
        fields: dict[str, Any] = {
            "externalIds": {
                key: held_id.value for key, held_id in (self.external_ids or {}).items()
            }
        }
        if self.before is not None:
            fields["id"] = self.id
        if self.times is not None:
            fields["createdAt"], fields["updatedAt"] = map(write_moment, self.times)
        return fields

    def values(self) -> tuple[object, ...]:
        """Return what a row can change, to compare."""
        return (
            *(self.phone, self.email, self.first_name, self.last_name, self.status),
            *(self.metadata, self.external_ids),
        )

    def state(self) -> dict[str, Any]:
        """Return everything to restore a contact from; metadata as JSON text, so that numbers and
        the order of keys stay as they are."""
        return {
            "phone": self.phone,
            "email": self.email,
            "firstName": self.first_name,
            "lastName": self.last_name,
            "status": self.status,
            "metadata": self.metadata,
            "externalIds": {
                key: {"value": held_id.value, "identifies": held_id.identifies}
                for key, held_id in (self.external_ids or {}).items()
            },
        }


def fetch(connection: Connection, query: str, *parameters: Any) -> Sequence[Any]:
    """Return the rows as plain tuples: SQLAlchemy's own cost as much again."""
    result = connection.exec_driver_sql(query, parameters)
    rows = result.cursor.fetchall()
    result.close()
    return rows


def to_json(values: Iterable[Any]) -> str:
    return orjson.dumps(list(values)).decode()


class AmbiguousContact(Exception):
    """The identifiers of one contact belong to different stored ones."""


class ContactIndex:
    """Contacts by their identifiers."""

    def __init__(self, loaded: Iterable[CurrentContact]):
        self.loaded = list(loaded)
        self.created: list[CurrentContact] = []
        self.removed: list[CurrentContact] = []
        self._by_phone: dict[str | None, CurrentContact] = {}
        self._by_email: dict[str | None, CurrentContact] = {}
        self._by_identity: dict[tuple[str, str] | None, CurrentContact] = {}
        for stored in self.loaded:
            self._enter(stored)

    def find(
        self, phone: str | None, email_key: str | None, *identities: tuple[str, str] | None
    ) -> CurrentContact | None:
        """Return the contact that all identifiers belong to. Raises `AmbiguousContact`."""
        contact = self._by_phone.get(phone)
        match = self._by_email.get(email_key)
        if contact is None:
            contact = match
        elif match is not None and match is not contact:
            raise AmbiguousContact
        for identity in identities:
            match = self._by_identity.get(identity)
            if contact is None:
                contact = match
            elif match is not None and match is not contact:
                raise AmbiguousContact
        return contact

    def of_id(self, contact_id: str) -> CurrentContact | None:
        return next((stored for stored in self.loaded if stored.id == contact_id), None)

    def conflicting_field(
        self,
        contact: CurrentContact,
        phone: str | None,
        email_key: str | None,
        identity: tuple[str, str] | None,
    ) -> str | None:
        """Return the field of an identifier that belongs to another contact than ``contact``."""
        holders = {
            "phone": self._by_phone.get(phone),
            "email": self._by_email.get(email_key),
            "externalIdValue": self._by_identity.get(identity),
        }
        return next((f for f, holder in holders.items() if holder not in (None, contact)), None)

    def add(self, stored: CurrentContact) -> None:
        self.created.append(stored)
        self._enter(stored)

    def remove(self, stored: CurrentContact) -> None:
        stored.removed = True
        self.removed.append(stored)
        self._by_phone.pop(stored.phone, None)
        self._by_email.pop(stored.email_key, None)
        for pair in stored.identities:
            self._by_identity.pop(pair, None)

    def identify(self, stored: CurrentContact, phone: str | None, email: str | None) -> None:
        """Give a contact other identifiers."""
        if phone != stored.phone:
            self._by_phone.pop(stored.phone, None)
            stored.phone = phone
            if phone:
                self._by_phone[phone] = stored
        email_key = email and email.lower()
        if email_key != stored.email_key:
            self._by_email.pop(stored.email_key, None)
            if email_key:
                self._by_email[email_key] = stored
        stored.email, stored.email_key = email, email_key

    def attach(
        self, stored: CurrentContact, key: str, value: str | None, *, identifies: bool
    ) -> None:
        """Set (or, with None, remove) an external id.

        A value that only routes never replaces one that identifies the contact.
        """
        ids = stored.external_ids or {}
        current = ids.get(key)
        if current is not None and current.identifies and value is not None and not identifies:
            return
        self.set_external_id(stored, key, None if value is None else HeldId(value, identifies))

    def set_external_id(self, stored: CurrentContact, key: str, new: HeldId | None) -> None:
        """Set an external id to exactly this, or remove it."""
        ids = stored.external_ids or {}
        current = ids.get(key)
        if new == current:
            return
        if current is not None and current.identifies:
            self._by_identity.pop((key, current.value), None)
        remaining = {name: external_id for name, external_id in ids.items() if name != key}
        stored.external_ids = remaining if new is None else {**remaining, key: new}
        if new is not None and new.identifies:
            self._by_identity[key, new.value] = stored

    def _enter(self, stored: CurrentContact) -> None:
        if stored.phone:
            self._by_phone[stored.phone] = stored
        if stored.email_key:
            self._by_email[stored.email_key] = stored
        if stored.external_ids:
            for pair in stored.identities:
                self._by_identity[pair] = stored


class ContactRefused(Exception):
    """A contact that can't be written as it was sent, because of what is stored."""

    def __init__(self, problem: Problem):
        super().__init__(problem.message)
        self.problem = problem
