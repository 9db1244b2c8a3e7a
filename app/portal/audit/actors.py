"""The authors of changes, and the changed users: names instead of emails and ids, on every page."""

from collections.abc import Sequence
from uuid import UUID

from flask import Flask

from app.enums import CallerKind
from app.extensions import caller, transaction
from app.models import AuditEntry
from app.portal.audit.entries import targets_of
from app.portal.audit.labels import ACTOR_LABELS
from app.portal.web.current_user import known_user
from app.services.audit import search
from app.validation.uuids import as_uuid


class UserNames:
    """The names of the users in some entries: one query, none for the current user alone."""

    def __init__(self, entries: Sequence[AuditEntry]):
        with transaction(read_only=True) as session:
            self._names = search.user_names(session, caller(), entries, own_name())

    def actor(self, entry: AuditEntry) -> str | None:
        """Return the name of the user who acted; None for other authors, and for users without a
        name."""
        if entry.actor_id is None or entry.actor_kind != CallerKind.USER:
            return None
        return self._names.get(entry.actor_id)

    def target(self, entry: AuditEntry) -> str | None:
        """Return the name of the changed user; None as `actor`."""
        user_id = as_uuid(entry.target_id)
        return self._names.get(user_id) if user_id else None


def own_name() -> dict[UUID, str | None]:
    """Return the name of the current user, by their id."""
    user = known_user()
    return {user.id: user.name} if user else {}


def target_labels(entries: Sequence[AuditEntry]) -> dict[UUID, str]:
    """As `targets_of`, for templates."""
    with transaction(read_only=True) as session:
        return targets_of(session, entries)


def register(app: Flask) -> None:
    app.jinja_env.globals.update(
        user_names=UserNames, target_labels=target_labels, actor_kinds=ACTOR_LABELS
    )
