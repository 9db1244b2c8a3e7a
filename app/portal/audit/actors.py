"""Who changed something, and which user was changed: names instead of emails, on every page."""

from collections.abc import Sequence
from uuid import UUID

from flask import Flask

from app.enums import CallerKind
from app.extensions import caller, reading
from app.models import AuditEntry
from app.portal.audit.labels import ACTOR_WORDS
from app.services.audit import search
from app.validation.uuids import as_uuid


class UserNames:
    """The names of the users in some entries: one query."""

    def __init__(self, entries: Sequence[AuditEntry]):
        with reading() as session:
            self._names: dict[UUID, str] = search.user_names(session, caller(), entries)

    def actor(self, entry: AuditEntry) -> str | None:
        """Return the name of the user who acted; None if it was no user, or one without a name."""
        if entry.actor_id is None or entry.actor_kind != CallerKind.USER:
            return None
        return self._names.get(entry.actor_id)

    def target(self, entry: AuditEntry) -> str | None:
        """Return the name of the user who was changed; None as `actor`."""
        user_id = as_uuid(entry.target_id)
        return self._names.get(user_id) if user_id else None


def register(app: Flask) -> None:
    app.jinja_env.globals.update(user_names=UserNames, actor_kinds=ACTOR_WORDS)
