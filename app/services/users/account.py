"""Users' own changes: name, time zone, password, sessions, mails."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from app.errors import (
    Conflict,
    NotFound,
    ValidationFailed,
    check_length,
    raise_problems,
    unknown_language,
)
from app.languages import gettext
from app.models import PortalSession, User, utcnow
from app.policy.caller import Caller
from app.services import audit, notifications, users
from app.services.audit import refusals
from app.services.audit.refusals import Refusal
from app.services.auth import attempt_limits, sessions, throttle
from app.services.auth.throttle import FailureCounter
from app.services.auth.tokens import hash_of
from app.services.tenancy import fetch, lock_own_user
from app.services.users import email_changes
from app.services.users.updating import MAX_NAME
from app.validation.networks import network_of
from app.validation.time_zones import time_zones

SESSIONS_PER_PAGE = 25


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A browser that is signed in. ``id`` identifies it for its owner and grants no access."""

    id: str
    ip: str | None
    user_agent: str | None
    created_at: datetime
    seen_at: datetime
    is_this: bool


@dataclass(frozen=True, slots=True)
class OpenSessions:
    """A page of sessions, their number in all, and whether another page follows."""

    items: list[OpenSession]
    count: int
    has_next: bool


def get(session: Session, caller: Caller) -> User:
    """Return the caller's own row. Raises `NotFound` for callers that are not users."""
    return fetch(session, select(User).where(User.id == caller.user_id), NotFound())


def update(
    session: Session,
    caller: Caller,
    *,
    name: str | None,
    timezone: str | None,
    language: str | None,
    expected_version: int | None = None,
) -> User:
    """Change name, time zone and language; blank is None.

    Raises `ValidationFailed` (``too_long``, ``unknown_timezone``, ``unknown_language``) and
    `Conflict` (``changed_meanwhile``).
    """
    user = lock_own_user(session, caller)
    if expected_version is not None and user.version != expected_version:
        message = gettext("Your account was changed in another window. Nothing was saved.")
        raise Conflict(message, "changed_meanwhile")
    name, language = (name or "").strip() or None, language or None
    check_length("name", name, MAX_NAME)
    timezone = _known_timezone(timezone)
    raise_problems(unknown_language(language))
    before = {"name": user.name, "timezone": user.timezone, "language": user.language}
    after = {"name": name, "timezone": timezone, "language": language}
    if before != after:
        user.name, user.timezone, user.language = name, timezone, language
        audit.record_version(session, caller, "user.updated", user, before=before, after=after)
    return user


def choose_timezone(session: Session, caller: Caller, timezone: str) -> User:
    """Store the time zone of a user who has none yet, as their browser reports it.

    Raises `ValidationFailed` (``unknown_timezone``).
    """
    user = lock_own_user(session, caller)
    valid_timezone = _known_timezone(timezone)
    if user.timezone is None and valid_timezone is not None:
        user.timezone = valid_timezone
        audit.record_version(
            session, caller, "user.updated", user, after={"timezone": valid_timezone}
        )
    return user


def _known_timezone(timezone: str | None) -> str | None:
    if timezone and timezone not in time_zones():
        message = gettext("Unknown time zone. Choose one like Europe/London.")
        raise ValidationFailed.on("timezone", "unknown_timezone", message)
    return timezone or None


def choose_mails(
    session: Session, caller: Caller, choices: Mapping[str, bool], *, news: bool | None
) -> User:
    """Store which mails the caller gets. ``news`` is the opposite of ``unsubscribe`` in the JSON;
    None leaves it."""
    user = lock_own_user(session, caller)
    accepted = {
        mail: choices[mail] for mail in notifications.offered_mails(caller) if mail in choices
    }
    before = {mail: notifications.wants_mail(user, mail) for mail in accepted} | {
        "unsubscribe": user.unsubscribe
    }
    user.notifications = {**user.notifications, **accepted}
    if news is not None:
        user.unsubscribe = not news
    after = accepted | {"unsubscribe": user.unsubscribe}
    if before != after:
        audit.record_version(session, caller, "user.mails_chosen", user, before=before, after=after)
    return user


def cancel_email_change(session: Session, caller: Caller) -> User:
    """Cancel the pending new address, if there is one."""
    user = lock_own_user(session, caller)
    email_changes.end(session, caller, user)
    return user


def begin_password_check(session: Session, caller: Caller, limit: int) -> str | None:
    """Count an attempt and return the hash for checking the current password. The slow comparison
    follows outside of the transaction, then `finish_password_check` or `withdraw_password_check`.

    Raises `RateLimited` after too many wrong ones.
    """
    throttle.charge(session, [_failure_counter(caller, limit)])
    return get(session, caller).password_hash


def withdraw_password_check(session: Session, caller: Caller) -> None:
    """Uncount an attempt, because the password could not be compared."""
    throttle.reset_after_success(session, (), [_failure_counter(caller)])


def finish_password_check(session: Session, caller: Caller, *, is_right: bool) -> None:
    """Record a wrong current password; a right one ends the count."""
    if is_right:
        throttle.reset_after_success(session, [_failure_counter(caller)])
        return
    refusal = Refusal(
        action=refusals.PASSWORD,
        reason="wrong_password",
        target_type="user",
        target_id=caller.subject_id or "",
        target=caller.label,
        partner_id=caller.partner_id,
        organization_id=caller.organization_id,
        network=network_of(caller.ip),
    )
    refusals.record_refusals(session, caller, [refusal])


def change_password(
    session: Session, caller: Caller, proven_hash: str | None, password_hash: str
) -> User:
    """Replace the password, end every session of the caller, and send a mail.

    ``proven_hash`` is the hash that was compared: a change in between wins. Raises `Conflict`
    (``changed_meanwhile``).
    """
    user = lock_own_user(session, caller)
    if user.password_hash != proven_hash:
        message = gettext("Your password was changed in another window. Reload the page.")
        raise Conflict(message, "changed_meanwhile")
    users.set_password(session, caller, user, password_hash)
    return user


def open_sessions(
    session: Session, caller: Caller, token: str | None, *, idle: timedelta, page: int = 1
) -> OpenSessions:
    """Return the caller's sessions: this browser (by its ``token``) on the first page, then the
    others by last use."""
    current_hash, now = hash_of(token) if token else None, utcnow()
    own_sessions = select(PortalSession).where(
        PortalSession.user_id == caller.subject_id,
        PortalSession.expires_at > now,
        PortalSession.seen_at > now - idle,
    )
    other_sessions = (
        own_sessions.where(PortalSession.token_hash != current_hash)
        if current_hash
        else own_sessions
    )
    newest = other_sessions.order_by(PortalSession.seen_at.desc(), PortalSession.token_hash)
    start = (page - 1) * SESSIONS_PER_PAGE
    rows = list(session.scalars(newest.offset(start).limit(SESSIONS_PER_PAGE + 1)))
    has_next = len(rows) > SESSIONS_PER_PAGE
    if current_hash and page == 1:
        rows = [
            *session.scalars(own_sessions.where(PortalSession.token_hash == current_hash)),
            *rows,
        ]
    count = len(rows)
    if page > 1 or has_next:
        count = session.scalar(select(func.count()).select_from(own_sessions.subquery())) or 0
    views = [_open_session(row, is_this=row.token_hash == current_hash) for row in rows]
    return OpenSessions(views[:-1] if has_next else views, count, has_next)


def _open_session(row: PortalSession, *, is_this: bool) -> OpenSession:
    name = _session_name(row.token_hash)
    return OpenSession(name, row.ip, row.user_agent, row.created_at, row.seen_at, is_this)


def end_session(session: Session, caller: Caller, name: str) -> bool:
    """Sign out one browser of the caller; False if it was signed out already."""
    own_hashes = select(PortalSession.token_hash).where(PortalSession.user_id == caller.subject_id)
    ended_hashes = [
        token_hash
        for token_hash in session.scalars(own_hashes)
        if _session_name(token_hash) == name
    ]
    session.execute(delete(PortalSession).where(PortalSession.token_hash.in_(ended_hashes)))
    if ended_hashes:
        audit.record_change(session, caller, "user.session_ended", get(session, caller))
    return bool(ended_hashes)


def end_other_sessions(session: Session, caller: Caller, token: str | None) -> int:
    """Sign out every other browser of the caller; return how many."""
    user = get(session, caller)
    count = sessions.end_all_of_user(session, user.id, except_token=token)
    if count:
        audit.record_change(session, caller, "user.session_ended", user, after={"sessions": count})
    return count


def _failure_counter(caller: Caller, allowed: int = 0) -> FailureCounter:
    return attempt_limits.of_own_password(caller.subject_id, allowed)


def _session_name(token_hash: str) -> str:
    return sha256(f"session {token_hash}".encode()).hexdigest()[:20]
