"""Rows of a file that are about the same contact."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from app.services.imports.contact_cells import Note


class _Earlier(NamedTuple):
    number: int
    phone: str
    email: str
    external_id: str


class Seen:
    """What the rows before have said of whom; ``keys`` tells which external ids identify."""

    def __init__(self, keys: Mapping[str, bool]):
        self._keys = keys
        self._phones: dict[str, _Earlier] = {}
        self._emails: dict[str, _Earlier] = {}
        self._ids: dict[str, _Earlier] = {}

    def notes(self, number: int, contact: Mapping[str, Any], *, again: bool) -> list[Note]:
        """The warnings for a row that is applied; ``again`` says that its contact is known to be
        that of an earlier row."""
        key = contact.get("externalIdKey", "")
        identity = f"{key}:{contact['externalIdValue']}" if self._keys.get(key) else ""
        row = _Earlier(number, contact.get("phone", ""), contact.get("email", "").lower(), identity)
        by_phone = self._phones.get(row.phone)
        by_email = self._emails.get(row.email)
        earlier = self._ids.get(row.external_id) or by_phone or by_email
        if row.phone:
            self._phones[row.phone] = row
        if row.email:
            self._emails[row.email] = row
        if row.external_id:
            self._ids[row.external_id] = row
        if earlier is None and not again:
            return []
        where = f"row {earlier.number}" if earlier else "an earlier row"
        notes = [Note(None, "duplicate", f"The same contact as {where}, which it updates.")]
        if by_phone and _differ(by_phone, row):
            message = f"Row {by_phone.number} has this phone too, with other details."
            notes.append(Note(None, "duplicate_phone", message))
        if by_email and _differ(by_email, row):
            message = f"Row {by_email.number} has this e-mail too, with other details."
            notes.append(Note(None, "duplicate_email", message))
        return notes


def _differ(earlier: _Earlier, row: _Earlier) -> bool:
    """Whether the two say different things of what identifies a contact."""
    pairs = zip(earlier[1:], row[1:], strict=True)
    return any(one and other and one != other for one, other in pairs)
