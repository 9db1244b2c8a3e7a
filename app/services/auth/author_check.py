"""The last check of the author of a change, just before it is stored.

A request is authorized by the data at its start. A user who is suspended, deactivated or given
another role while the request runs must not store anything after that, nor a script whose key or
client ends. So a writing transaction checks its author again when it commits, and holds a lock on
the author until it has committed; the transaction that ends the access waits for these locks, or
they for it.

The locks are taken just before the commit, in a fixed order, and after them only the audit chain's:
a deadlock can't arise.
"""

import hashlib
from collections.abc import Callable
from uuid import UUID

from sqlalchemy import event, func, select
from sqlalchemy.orm import Session

from app.enums import CallerKind
from app.errors import Forbidden, Unauthenticated
from app.languages import gettext
from app.models import ApiKey, OAuthClient, ScimToken, User
from app.policy.caller import Caller
from app.services.auth.sign_in_rules import able_to_sign_in

_AUTHOR = "author"
_AUTHENTICATE = "authenticate the author"
_CHANGED = "users whose access changes"


def check_at_commit(
    session: Session, author: Caller, authenticate: Callable[[Session], Caller] | None = None
) -> None:
    """Make the commit raise `Unauthenticated` (``not_signed_in``) if the user is no longer active,
    and `Forbidden` (``role_changed``) if they have another role. For a script it raises what
    ``authenticate`` raises for its credential by then. Raises `Forbidden` (``view_only``) at once
    for an operator who views the portal as this user."""
    author.require_write()
    session.info[_AUTHOR], session.info[_AUTHENTICATE] = author, authenticate
    _listen(session)


def access_changes(session: Session, user_id: UUID) -> None:
    """Make the commit wait for changes that this user is storing, and block later ones."""
    _listen(session)
    session.info[_CHANGED].add(user_id)


def _listen(session: Session) -> None:
    if _CHANGED not in session.info:
        session.info[_CHANGED] = set()
        event.listen(session, "before_commit", _check, insert=True)  # before the audit chain


def _check(session: Session) -> None:
    if session.in_nested_transaction():
        return
    session.flush()
    author: Caller | None = session.info.get(_AUTHOR)
    changed: set[UUID] = session.info[_CHANGED]
    _lock(session, author.user_id if author else None, changed)
    changed.clear()
    if author is None:
        return
    if authenticate := session.info[_AUTHENTICATE]:
        _lock_credential(session, author)
        authenticate(session)
    else:
        _refuse_ended(session, author)


def _lock(session: Session, author_id: UUID | None, changed: set[UUID]) -> None:
    """On SQLite only one transaction writes anyway."""
    if session.get_bind().dialect.name != "postgresql":
        return
    for user_id in sorted(changed | ({author_id} if author_id else set())):
        key = _lock_key(user_id)
        exclusive = func.pg_advisory_xact_lock(key)
        shared = func.pg_advisory_xact_lock_shared(key)
        session.execute(select(exclusive if user_id in changed else shared))


def _lock_credential(session: Session, author: Caller) -> None:
    kinds: dict[CallerKind, type[ApiKey | ScimToken]] = {
        CallerKind.API_KEY: ApiKey,
        CallerKind.DIRECTORY: ScimToken,
    }
    model = kinds.get(author.kind, OAuthClient)
    session.execute(
        select(model.id).where(model.id == author.subject_id).with_for_update(read=True)
    )


def _refuse_ended(session: Session, author: Caller) -> None:
    role_query = select(User.role).where(User.id == author.user_id)
    role = session.scalar(able_to_sign_in(role_query))
    if role is None:
        message = gettext("Your access has ended. Nothing was saved.")
        raise Unauthenticated(message, "not_signed_in")
    if role is not author.role:
        message = gettext("Your role has changed. Nothing was saved.")
        raise Forbidden(message, "role_changed")


def _lock_key(user_id: UUID) -> int:
    digest = hashlib.sha256(b"author " + user_id.bytes).digest()
    return int.from_bytes(digest[:8], signed=True)
