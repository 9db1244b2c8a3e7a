"""Consent to calls: read from a contact's metadata, stored in columns for the rules of calls.

Three metadata keys state it: ``consent`` (yes or no in many words), ``consentSource`` (where it was
given) and ``consentAt`` (when; a date or time in ISO 8601).
"""

from collections.abc import Mapping, Sequence
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import update
from sqlalchemy.orm import Session

from app.models import Contact
from app.services.calls.rules import GIVEN, REFUSED
from app.services.contacts.contact_index import CurrentContact

KEY, SOURCE_KEY, AT_KEY = "consent", "consentSource", "consentAt"
MAX_SOURCE_LENGTH = 200
_MARK = f'"{KEY}"'
_YES = frozenset(
    {
        "yes",
        "y",
        "true",
        "1",
        "x",
        "given",
        "granted",
        "agreed",
        "subscribed",
        "opted-in",
        "opt-in",
        "optin",
        "ja",
        "oui",
        "sí",
        "si",
    }
)
_NO = frozenset(
    {
        "no",
        "n",
        "false",
        "0",
        "refused",
        "withdrawn",
        "revoked",
        "denied",
        "declined",
        "unsubscribed",
        "opted-out",
        "opt-out",
        "optout",
        "nein",
        "non",
    }
)


class ConsentStatement(NamedTuple):
    """A contact's consent; ``status`` None if it is neither yes nor no."""

    status: str | None
    source: str | None
    at: datetime | None


SILENT = ConsentStatement(None, None, None)


def read_consent(metadata: str | None) -> ConsentStatement:
    """Return the consent in metadata as they are stored: JSON text."""
    if metadata is None or _MARK not in metadata:
        return SILENT
    return stated_by(orjson.loads(metadata))


def stated_by(metadata: Mapping[str, Any]) -> ConsentStatement:
    status = status_of(metadata.get(KEY))
    if status is None:
        return SILENT
    source = str(metadata.get(SOURCE_KEY) or "").strip()[:MAX_SOURCE_LENGTH] or None
    return ConsentStatement(status, source, _parse_time(metadata.get(AT_KEY)))


def status_of(value: Any) -> str | None:
    """Return `GIVEN`, `REFUSED`, or None for other words."""
    word = "-".join(str(value).casefold().split())
    return GIVEN if word in _YES else REFUSED if word in _NO else None


def store_consent(session: Session, contacts: Sequence[CurrentContact], now: datetime) -> None:
    """Write the consent of contacts whose metadata were just written; ``now`` is its
    default time."""
    rows = []
    for stored in filter(_mentions_consent, contacts):
        before = read_consent(stored.before[6] if stored.before is not None else None)
        after = read_consent(stored.metadata)
        if after == before or stored.id is None:
            continue
        consent_at = after.at or (now if after.status else None)
        rows.append(
            {
                "id": UUID(stored.id),
                "consent": after.status,
                "consent_source": after.source,
                "consent_at": consent_at,
            }
        )
    if rows:
        session.execute(update(Contact), rows)


def _mentions_consent(stored: CurrentContact) -> bool:
    """Return whether the metadata mention consent, or did before."""
    before = stored.before[6] if stored.before is not None else None
    return bool((stored.metadata and _MARK in stored.metadata) or (before and _MARK in before))


def _parse_time(value: Any) -> datetime | None:
    try:
        time = datetime.fromisoformat(str(value).strip())
    except ValueError:
        return None
    if not MINYEAR < time.year < MAXYEAR:  # there may be no such time in another zone
        return None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
