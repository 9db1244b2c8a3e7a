"""The second step of signing in: sign-ins that wait for it, and browsers where it is remembered.

A waiting sign-in grants nothing. It works once, in the browser that has its token, at the host
where it began, within `LIFETIME`. What proves the step is in `app.services.factors`.
"""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from app.models import PendingSignIn, RememberedBrowser, utcnow
from app.services.auth.tokens import hash_of, random_token

LIFETIME = timedelta(minutes=10)
REMEMBERED_FOR = timedelta(days=30)


def begin(session: Session, user_id: UUID, *, host: str) -> str:
    """Return the token of a new sign-in that waits for its second step (256 bits); only its hash is
    stored."""
    token = random_token()
    session.add(
        PendingSignIn(
            token_hash=hash_of(token), user_id=user_id, host=host, expires_at=utcnow() + LIFETIME
        )
    )
    session.flush()
    return token


def waiting(session: Session, token: str | None, *, host: str) -> UUID | None:
    """Return the user whose sign-in waits under this token, without using it up."""
    query = select(PendingSignIn.user_id).where(
        PendingSignIn.token_hash == hash_of(token or ""),
        PendingSignIn.host == host,
        PendingSignIn.expires_at > utcnow(),
    )
    return session.scalar(query)


def redeem(session: Session, token: str) -> bool:
    """Use the waiting sign-in up; return False if it was used already."""
    used = delete(PendingSignIn).where(PendingSignIn.token_hash == hash_of(token))
    return bool(session.execute(used.returning(PendingSignIn.user_id)).all())


def remember(session: Session, user_id: UUID, token: str | None) -> str:
    """Remember the second step of the user in a browser; return the new token of its cookie. Other
    accounts that were remembered under the old ``token`` move to the new one, which only this
    browser knows."""
    new, now = random_token(), utcnow()
    if token:
        session.execute(
            update(RememberedBrowser)
            .where(
                RememberedBrowser.token_hash == hash_of(token), RememberedBrowser.user_id != user_id
            )
            .values(token_hash=hash_of(new))
        )
    row = RememberedBrowser(
        token_hash=hash_of(new), user_id=user_id, created_at=now, expires_at=now + REMEMBERED_FOR
    )
    session.add(row)
    session.flush()
    return new


def is_remembered(session: Session, user_id: UUID, token: str | None) -> bool:
    """Return whether the user needs no second step in the browser with this token."""
    if not token:
        return False
    query = select(RememberedBrowser.user_id).where(
        RememberedBrowser.token_hash == hash_of(token),
        RememberedBrowser.user_id == user_id,
        RememberedBrowser.expires_at > utcnow(),
    )
    return session.scalar(query) is not None


def end_for_user(session: Session, user_id: UUID) -> None:
    """Delete every waiting or remembered second step of the user."""
    session.execute(delete(PendingSignIn).where(PendingSignIn.user_id == user_id))
    session.execute(delete(RememberedBrowser).where(RememberedBrowser.user_id == user_id))


def purge(session: Session) -> None:
    """Delete expired rows."""
    now = utcnow()
    session.execute(delete(PendingSignIn).where(PendingSignIn.expires_at <= now))
    session.execute(delete(RememberedBrowser).where(RememberedBrowser.expires_at <= now))
