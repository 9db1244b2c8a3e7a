"""Parse a contact as it was sent: the requested change, or everything that is wrong with it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from app.errors import Problem, Sentence
from app.phone import PhoneError, is_plain_e164, normalise
from app.schemas.checks import MAX_METADATA_KEY, MAX_METADATA_VALUE
from app.services.contacts.contact_index import CurrentContact
from app.services.contacts.rules import (
    MAX_EXTERNAL_ID_KEY,
    MAX_EXTERNAL_ID_VALUE,
    MAX_NAME,
    MAX_STATUS,
    ContactRules,
)
from app.validation import emails

FIELDS = frozenset(
    {
        "firstName",
        "lastName",
        "email",
        "phone",
        "contactMetadata",
        "status",
        "externalIdKey",
        "externalIdValue",
    }
)
READ_ONLY = frozenset({"id", "externalIds", "createdAt", "updatedAt"})
"""Fields that reading a contact adds. Sent back unchanged they have no effect; any other value
under these names is metadata."""

_NUMBERS = frozenset({int, float, bool})

MISSING_IDENTIFIER = "missing_identifier"
_MISSING_IDENTIFIER = Sentence.gettext("Enter a phone number or an email address.")
_NO_OBJECT = Sentence.gettext("A contact is an object, in curly brackets.")
_PAIR_INCOMPLETE = Sentence.gettext("Send externalIdKey and externalIdValue together, or neither.")
_UNKNOWN_KEY = Sentence.gettext(
    'No assistant of the campaign defines the external-id key "%(key)s". Defined here: %(known)s.'
)
_NO_KEYS = Sentence.gettext(
    'No assistant of the campaign defines the external-id key "%(key)s". Defined here: none.'
)
_INVALID_EMAIL = Sentence.gettext("Enter an email like name@example.com.")
_NOT_TEXT = Sentence.gettext("Text is needed here.")
_NOT_OBJECT = Sentence.gettext("An object is needed here.")
_NOT_METADATA = Sentence.gettext("Text, a number, true or false is needed here.")
_TOO_LONG = Sentence.gettext("Too long. Use at most %(limit)s characters.")


class ExternalId(NamedTuple):
    """A pair that was sent with a contact, or with the whole request.

    ``value`` None removes the key's value. ``is_own`` is False for a pair of a file that only
    routes, whatever its key does.
    """

    key: str
    value: str | None
    is_own: bool = True


@dataclass(slots=True, eq=False)
class IncomingContact(CurrentContact):
    """A parsed contact; a new one is stored like this.

    In texts "" keeps the stored value, and None clears it. ``sent_metadata`` holds the keys to
    write, if any, ``removed_keys`` those to remove (None: all that are stored). ``identity`` is its
    own pair if the key identifies contacts. ``further_ids`` are more pairs, which only files can
    have, ``further_identities`` those of them that identify. ``sent_read_only`` has the read-only
    fields by name; see `move_differing_to_metadata`.
    """

    sent_metadata: dict[str, Any] | None = None
    removed_keys: Collection[str] | None = ()
    external_id: ExternalId | None = None
    identity: tuple[str, str] | None = None
    further_ids: Sequence[ExternalId] = ()
    further_identities: Sequence[tuple[str, str]] = ()
    sent_read_only: Mapping[str, Any] | None = None


class ContactReader:
    """Parses the contacts of one request. Their texts have no NUL character and no surrogate: the
    readers of requests and of files refuse those."""

    def __init__(
        self,
        rules: ContactRules,
        root: ExternalId | None,
        *,
        removing: bool,
        from_file: bool = False,
    ):
        self._region = rules.default_region
        self._keys = rules.keys
        self._root = root
        self._removing = removing
        self._from_file = from_file

    def read(self, item: Any) -> IncomingContact | list[Problem]:
        """Return the contact's requested change, or its problems; the first is the one to
        report."""
        if type(item) is not dict:
            return [Problem("", "invalid_type", _NO_OBJECT())]
        problems: list[Problem] = []
        phone = item.get("phone", "")
        if type(phone) is not str or not is_plain_e164(phone):
            phone = self._phone(phone, problems)
        email = item.get("email", "")
        if type(email) is not str or not (email.isascii() and emails.is_email(email)):
            email = _read_email(email, problems)
        incoming = IncomingContact(phone, email, email and email.lower())
        if self._root is not None or "externalIdKey" in item or "externalIdValue" in item:
            incoming.external_id = self._read_pair(item, problems) or self._root
            incoming.identity = self._identity(incoming.external_id)
        if self._from_file and "externalIds" in item:
            self._read_further_ids(item["externalIds"], incoming, problems)
        identity = incoming.identity or incoming.further_identities
        if not (phone or email or problems) and (self._removing or not identity):
            problems.append(missing_identifier())
        if not self._removing:
            _read_details(item, incoming, problems)
            if self._from_file:
                incoming.sent_read_only = None
        return problems or incoming

    def _phone(self, value: Any, problems: list[Problem]) -> str | None:
        if type(value) is str:
            if not value or value.isspace():
                return ""
            try:
                return normalise(value, self._region)
            except PhoneError as error:
                problems.append(Problem("phone", "invalid_phone", error.message))
                return ""
        if value is not None:
            problems.append(_wrong_type("phone", _NOT_TEXT))
        return None

    def _read_pair(self, item: Mapping[str, Any], problems: list[Problem]) -> ExternalId | None:
        """Return the contact's own pair; None if both halves are missing or blank."""
        before = len(problems)
        key = _read_text(
            item.get("externalIdKey", ""), "externalIdKey", MAX_EXTERNAL_ID_KEY, problems
        )
        value = _read_text(
            item.get("externalIdValue", ""), "externalIdValue", MAX_EXTERNAL_ID_VALUE, problems
        )
        if len(problems) > before or not (key or value):
            return None
        key, value = key and key.strip(), value and value.strip()
        if not key or value == "":
            missing = "externalIdValue" if key else "externalIdKey"
            problems.append(Problem(missing, "external_id_pair_incomplete", _PAIR_INCOMPLETE()))
        elif key not in self._keys:
            problems.append(unknown_key(key, self._keys))
        else:
            return ExternalId(key, value)
        return None

    def _read_further_ids(
        self, external_ids: Any, incoming: IncomingContact, problems: list[Problem]
    ) -> None:
        """Read further pairs: key -> value, or ``{"value", "identifies"}``."""
        pairs = []
        for key, value in external_ids.items():
            parsed = value if isinstance(value, dict) else {"value": value, "identifies": True}
            external_id = self._read_pair(
                {"externalIdKey": key, "externalIdValue": parsed["value"]}, problems
            )
            if external_id is not None:
                pairs.append(external_id._replace(is_own=bool(parsed["identifies"])))
        incoming.further_ids = pairs
        identities = [self._identity(pair) for pair in pairs]
        incoming.further_identities = [identity for identity in identities if identity]

    def _identity(self, external_id: ExternalId | None) -> tuple[str, str] | None:
        if external_id is None or external_id.value is None or not external_id.is_own:
            return None
        return (external_id.key, external_id.value) if self._keys.get(external_id.key) else None


def missing_identifier() -> Problem:
    return Problem("phone", MISSING_IDENTIFIER, _MISSING_IDENTIFIER())


def unknown_key(key: str, keys: Mapping[str, bool]) -> Problem:
    """Return the problem of an external-id key that no assistant of the campaign defines."""
    defined = ", ".join(sorted(keys))
    message = _UNKNOWN_KEY(key=key[:100], known=defined) if defined else _NO_KEYS(key=key[:100])
    return Problem("externalIdKey", "unknown_external_id_key", message)


def _read_email(value: Any, problems: list[Problem]) -> str | None:
    if type(value) is str:
        stripped: str = value.strip()
        # A text that grows in its comparable form would not fit into the column.
        if not stripped or (
            emails.is_email(stripped) and len(stripped.lower()) <= emails.MAX_LENGTH
        ):
            return stripped
        if len(stripped) > emails.MAX_LENGTH:
            problems.append(_too_long("email", emails.MAX_LENGTH))
        else:
            problems.append(Problem("email", "invalid_email", _INVALID_EMAIL()))
    elif value is not None:
        problems.append(_wrong_type("email", _NOT_TEXT))
    return None


def _read_details(item: dict[str, Any], incoming: IncomingContact, problems: list[Problem]) -> None:
    """Read everything except identifiers."""
    incoming.first_name = _read_text(item.get("firstName", ""), "firstName", MAX_NAME, problems)
    incoming.last_name = _read_text(item.get("lastName", ""), "lastName", MAX_NAME, problems)
    incoming.status = ""
    if "status" in item:
        incoming.status = _read_text(item["status"], "status", MAX_STATUS, problems)
    value = item.get("contactMetadata", "")
    if value is None:
        incoming.removed_keys = None
    elif value != "":
        _read_metadata(value, "contactMetadata", incoming, problems)
    if not item.keys() <= FIELDS:
        other_names = item.keys() - FIELDS - (incoming.sent_metadata or {}).keys()
        metadata = {name: item[name] for name in sorted(other_names - READ_ONLY)}
        _read_metadata(metadata, "", incoming, problems)
        if not other_names.isdisjoint(READ_ONLY):
            incoming.sent_read_only = {name: item[name] for name in sorted(other_names & READ_ONLY)}


def move_differing_to_metadata(
    incoming: IncomingContact, stored: Mapping[str, Any]
) -> list[Problem]:
    """Turn read-only fields that were sent with another value than ``stored`` into metadata; return
    their problems."""
    problems: list[Problem] = []
    read_only = incoming.sent_read_only or {}
    differing = {
        n: value for n, value in read_only.items() if n not in stored or stored[n] != value
    }
    _read_metadata(differing, "", incoming, problems)
    return problems


def _read_text(value: Any, field: str, limit: int, problems: list[Problem]) -> str | None:
    if type(value) is str:
        if len(value) > limit:
            problems.append(_too_long(field, limit))
        elif not value.isspace():
            return value
        return ""
    if value is not None:
        problems.append(_wrong_type(field, _NOT_TEXT))
    return None


def _read_metadata(
    metadata: Any, field: str, incoming: IncomingContact, problems: list[Problem]
) -> None:
    """Add metadata. Blank values keep what is stored, null removes a key."""
    if type(metadata) is not dict:
        if type(metadata) is not str or not metadata.isspace():
            problems.append(_wrong_type(field, _NOT_OBJECT))
        return
    for name, value in metadata.items():
        if type(value) is str:
            if not value or value.isspace() or len(value) > MAX_METADATA_VALUE:
                break
        elif type(value) not in _NUMBERS:
            break
        if len(name) > MAX_METADATA_KEY:
            break
    else:
        if not incoming.sent_metadata:
            incoming.sent_metadata = metadata
            return
    _read_mixed_metadata(metadata, field, incoming, problems)


def _read_mixed_metadata(
    metadata: dict[str, Any], field: str, incoming: IncomingContact, problems: list[Problem]
) -> None:
    """Read metadata with values to refuse, to leave out or to remove."""
    merged = dict(incoming.sent_metadata or {})
    for name, value in metadata.items():
        path = f"{field}.{name[:MAX_METADATA_KEY]}".lstrip(".")
        if len(name) > MAX_METADATA_KEY:
            problems.append(_too_long(path, MAX_METADATA_KEY))
        if type(value) is str:
            if len(value) > MAX_METADATA_VALUE:
                problems.append(_too_long(path, MAX_METADATA_VALUE))
            elif value.strip():
                merged[name] = value
        elif type(value) in _NUMBERS:
            merged[name] = value
        elif value is not None:
            problems.append(_wrong_type(path, _NOT_METADATA))
        elif incoming.removed_keys is not None:
            incoming.removed_keys = (*incoming.removed_keys, name)
    incoming.sent_metadata = merged


def _wrong_type(field: str, message: Sentence) -> Problem:
    return Problem(field, "invalid_type", message())


def _too_long(field: str, limit: int) -> Problem:
    return Problem(field, "value_too_long", _TOO_LONG(limit=f"{limit:,}"))
