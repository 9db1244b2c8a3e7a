"""Work out, contact by contact and in the order sent, the changes that a request makes to a
campaign.

Nothing here reads or writes a database: a dry run and the real request are the same plan.
"""

from collections.abc import Collection, Sequence
from typing import Any

import orjson

from app.enums import ContactAction, ends_outreach
from app.errors import Problem, Sentence
from app.models.base import new_ids
from app.schemas.checks import MAX_METADATA_KEYS
from app.services.contacts.contact_index import (
    AmbiguousContact,
    ContactIndex,
    ContactRefused,
    CurrentContact,
    RowIdentity,
)
from app.services.contacts.incoming import (
    IncomingContact,
    missing_identifier,
    move_differing_to_metadata,
)
from app.services.contacts.results import (
    CREATED,
    DELETED,
    FAILED,
    IGNORED,
    UPDATED,
    BulkResult,
    ContactFailure,
    ContactIgnored,
    UndoStep,
)
from app.services.contacts.rules import ContactRules

_AMBIGUOUS = Sentence.gettext(
    "The phone number, email address and external id belong to different contacts."
)
_NOT_FOUND = Sentence.gettext("No contact of the campaign has these identifiers.")
_DO_NOT_CONTACT = Sentence.gettext("This number is on the organization's do-not-call list.")
_TAKEN = {
    "phone": Sentence.gettext("Another contact of the campaign has this phone number."),
    "email": Sentence.gettext("Another contact of the campaign has this email address."),
    "externalIdValue": Sentence.gettext("Another contact of the campaign has this external id."),
}
_TOO_MUCH_METADATA = Sentence.ngettext(
    "With this the contact would have %(num)s key of metadata; at most %(most)s fit.",
    "With this the contact would have %(num)s keys of metadata; at most %(most)s fit.",
)


class ChangePlan:
    """The changes of a request. Call `add` for each contact, write the ``index``, then get the
    `result`."""

    def __init__(
        self,
        index: ContactIndex,
        rules: ContactRules,
        action: ContactAction,
        *,
        refused_phones: Collection[str] = (),
        listed_phones: Collection[str] = (),
        row_numbers: Sequence[int] | None = None,
        collect_changes: bool = False,
        contact_id: str | None = None,
        remembers_rows: bool = False,
    ):
        self.index = index
        self._meant = index.of_id(contact_id) if contact_id is not None else None
        self._keys = rules.keys
        self._adds = action is ContactAction.UPSERT
        self._removes = action is ContactAction.REMOVE
        self._refused_phones = refused_phones
        self._listed_phones = listed_phones
        self._row_numbers = row_numbers
        self._concerned: list[CurrentContact | None] = []
        self._errors: list[ContactFailure] = []
        self._ignored: list[ContactIgnored] = []
        self._outcomes: list[str] = []
        self._problems: dict[int, Sequence[Problem]] = {}
        self._collects = collect_changes
        self._changes: list[tuple[int, CurrentContact, str, Any, Any]] = []
        self._remembers_rows = remembers_rows
        self._again: dict[int, tuple[RowIdentity, RowIdentity]] = {}
        self._equal: set[int] = set()
        self._listed: set[int] = set()

    def add(self, item: Any, reading: IncomingContact | list[Problem]) -> None:
        """Plan the next contact: as it was sent, and as it was read."""
        if isinstance(reading, list):
            self._fail(item, reading)
            return
        try:
            stored = self._find(reading)
            if self._removes:
                self._remove(item, stored)
            elif stored is not None:
                self._update(item, stored, reading)
            elif self._adds:
                self._create(item, reading)
            else:
                self._ignore(item, "not_in_campaign")
        except AmbiguousContact:
            self._fail(item, [Problem("phone", "ambiguous_match", _AMBIGUOUS())])
        except ContactRefused as refusal:
            self._fail(item, [refusal.problem])

    def _find(self, reading: IncomingContact) -> CurrentContact | None:
        """Return the contact in question: by its identifiers, or the one that was named.

        Raises `AmbiguousContact` and `ContactRefused`.
        """
        contact = self._meant
        if contact is None or contact.removed:
            identities = (reading.identity, *reading.further_identities)
            return self.index.find(reading.phone, reading.email_key, *identities)
        field = self.index.conflicting_field(
            contact, reading.phone, reading.email_key, reading.identity
        )
        if field is not None:
            raise ContactRefused(Problem(field, "ambiguous_match", _TAKEN[field]()))
        return contact

    def result(self, contacts: Sequence[Any]) -> BulkResult:
        """Return the result for everything that was taken; created contacts have ids only after
        `number_created`."""
        return BulkResult(
            success=[
                {
                    "phone": item.get("phone"),
                    "email": item.get("email"),
                    "action": outcome,
                    "id": stored.id,
                }
                for item, outcome, stored in zip(
                    contacts, self._outcomes, self._concerned, strict=True
                )
                if stored is not None
            ],
            errors=self._errors,
            ignored=self._ignored,
            created=len(self.index.created),
            updated=self._outcomes.count(UPDATED),
            deleted=len(self.index.removed),
            outcomes=self._outcomes,
            problems=self._problems,
            changes=[
                UndoStep(number, stored.id, action, before, after)
                for number, stored, action, before, after in self._changes
                if stored.id is not None
            ],
            again=self._again,
            equal=self._equal,
            listed=self._listed,
        )

    def concerned(self) -> set[CurrentContact]:
        """Return the contacts that were affected."""
        return {stored for stored in self._concerned if stored is not None}

    @property
    def states_of_removed(self) -> dict[str, dict[str, Any]]:
        """The logged states of removed contacts, by their ids; more may be added."""
        return {
            stored.id: before
            for _, stored, action, before, _ in self._changes
            if action == DELETED and stored.id is not None
        }

    def number_created(self) -> None:
        """Give the created contacts their ids, ascending in the order sent."""
        for stored, identifier in zip(
            self.index.created, new_ids(len(self.index.created)), strict=True
        ):
            stored.id = identifier

    def _create(self, item: dict[str, Any], incoming: IncomingContact) -> None:
        if not (incoming.phone or incoming.email):
            raise ContactRefused(missing_identifier())
        if incoming.status and ends_outreach(incoming.status):
            self._ignore(item, "status_ended")
            return
        if incoming.phone in self._refused_phones:
            self._fail(item, [Problem("phone", "do_not_contact", _DO_NOT_CONTACT())])
            return
        if incoming.sent_read_only:
            _move_changed_to_metadata(incoming, incoming)
        if incoming.sent_metadata:
            incoming.metadata = _merge_metadata(None, incoming)
        _blank_to_none(incoming)
        if incoming.external_id is not None or incoming.further_ids:
            self._attach(incoming, incoming)
        self.index.add(incoming)
        if self._remembers_rows:
            self._remember(incoming, incoming)
        self._succeed(incoming, CREATED, None)

    def _update(
        self, item: dict[str, Any], stored: CurrentContact, incoming: IncomingContact
    ) -> None:
        if incoming.phone in self._refused_phones:
            self._fail(item, [Problem("phone", "do_not_contact", _DO_NOT_CONTACT())])
            return
        metadata = _metadata_after(stored, incoming)
        before = stored.state() if self._collects else None
        values = stored.values() if self._remembers_rows else None
        phone = incoming.phone if incoming.phone != "" else stored.phone
        email = incoming.email if incoming.email != "" else stored.email
        if phone != stored.phone or email != stored.email:
            if not (phone or email):
                raise ContactRefused(missing_identifier())
            self.index.identify(stored, phone, email)
        stored.metadata = metadata
        if incoming.first_name != "":
            stored.first_name = incoming.first_name
        if incoming.last_name != "":
            stored.last_name = incoming.last_name
        if incoming.status != "":
            stored.status = incoming.status
        if incoming.external_id is not None or incoming.further_ids:
            self._attach(stored, incoming)
        if self._remembers_rows:
            self._remember(stored, incoming)
            if stored.values() == values:
                self._equal.add(self._index())
        self._succeed(stored, UPDATED, before)

    def _remember(self, stored: CurrentContact, incoming: IncomingContact) -> None:
        identity = ":".join(incoming.identity) if incoming.identity else ""
        index = self._index()
        row = RowIdentity(index, incoming.phone or "", incoming.email_key or "", identity)
        if stored.last_row is not None:
            self._again[index] = (stored.last_row, row)
        if incoming.phone in self._listed_phones:
            self._listed.add(index)
        stored.last_row = row

    def _attach(self, stored: CurrentContact, incoming: IncomingContact) -> None:
        for pair in (incoming.external_id, *incoming.further_ids):
            if pair is not None:
                identifies = pair.is_own and self._keys.get(pair.key, False)
                self.index.attach(stored, pair.key, pair.value, identifies=identifies)

    def _remove(self, item: dict[str, Any], stored: CurrentContact | None) -> None:
        if stored is None:
            self._fail(item, [Problem("phone", "not_found", _NOT_FOUND())])
            return
        self.index.remove(stored)
        self._succeed(stored, DELETED, stored.state() if self._collects else None)

    def _succeed(self, stored: CurrentContact, action: str, before: dict[str, Any] | None) -> None:
        if self._collects:
            after = None if action == DELETED else stored.state()
            self._changes.append((self._index(), stored, action, before, after))
        self._outcomes.append(action)
        self._concerned.append(stored)

    def _ignore(self, item: dict[str, Any], code: str) -> None:
        self._ignored.append(
            {
                "index": self._index(),
                "phone": item.get("phone"),
                "email": item.get("email"),
                "code": code,
            }
        )
        self._outcomes.append(IGNORED)
        self._concerned.append(None)

    def _fail(self, item: Any, problems: Sequence[Problem]) -> None:
        first, index = problems[0], self._index()
        fields = item if isinstance(item, dict) else {}
        self._errors.append(
            {
                "index": index,
                "phone": fields.get("phone"),
                "email": fields.get("email"),
                "code": first.code,
                "field": first.field or None,
                "message": first.message,
                "retryable": False,
            }
        )
        self._problems[index] = problems
        self._outcomes.append(FAILED)
        self._concerned.append(None)

    def _index(self) -> int:
        position = len(self._outcomes)
        return position if self._row_numbers is None else self._row_numbers[position]


def _metadata_after(stored: CurrentContact, incoming: IncomingContact) -> str | None:
    """Return the stored contact's metadata after the update. Raises `ContactRefused`."""
    if incoming.sent_read_only:
        _move_changed_to_metadata(incoming, stored)
    if incoming.sent_metadata or incoming.removed_keys != ():
        return _merge_metadata(stored.metadata, incoming)
    return stored.metadata


def _move_changed_to_metadata(incoming: IncomingContact, stored: CurrentContact) -> None:
    """Keep changed read-only fields as metadata. Raises `ContactRefused` if they can't be."""
    problems = move_differing_to_metadata(incoming, stored.read_only())
    if problems:
        raise ContactRefused(problems[0])


def _merge_metadata(stored: str | None, incoming: IncomingContact) -> str | None:
    """Return the stored metadata with the contact's own merged in, as JSON text; None if none is
    left.

    Raises `ContactRefused` for more keys than a contact may have.
    """
    merged = new = incoming.sent_metadata or {}
    if stored is not None and incoming.removed_keys is not None:
        if new and not incoming.removed_keys and orjson.dumps(new) == stored.encode():
            return stored
        merged = orjson.loads(stored)
        for key in incoming.removed_keys:
            merged.pop(key, None)
        merged.update(new)
    if len(merged) > MAX_METADATA_KEYS:
        message = _TOO_MUCH_METADATA(num=len(merged), most=MAX_METADATA_KEYS)
        raise ContactRefused(Problem("contactMetadata", "too_many_metadata_keys", message))
    return orjson.dumps(merged).decode() if merged else None


def _blank_to_none(new: CurrentContact) -> None:
    new.phone = new.phone or None
    new.email = new.email or None
    new.email_key = new.email_key or None
    new.first_name = new.first_name or None
    new.last_name = new.last_name or None
    new.status = new.status or None
