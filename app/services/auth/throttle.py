"""Failed sign-ins and token requests, counted in the database so that every process agrees.

A subject is one account or client as seen from one address; only its hash is stored.
"""

import hashlib
import math
from datetime import timedelta

from sqlalchemy import delete, select, text
from sqlalchemy.orm import Session

from app.errors import RateLimited, in_minutes
from app.models import FailedSignIn, utcnow

WINDOW = timedelta(minutes=10)


def subject(kind: str, name: str, ip: str | None) -> str:
    """The hash of an account or client (``name``) together with the address it is used from."""
    return hashlib.sha256("\0".join((kind, name, ip or "")).encode()).hexdigest()


def check(session: Session, subject_hash: str, limit: int) -> int:
    """The failures within the window. Raises `RateLimited` where they have reached the limit."""
    now = utcnow()
    failures = session.scalars(
        select(FailedSignIn.at)
        .where(FailedSignIn.subject_hash == subject_hash, FailedSignIn.at > now - WINDOW)
        .order_by(FailedSignIn.at.desc())
        .limit(limit)
    ).all()
    if len(failures) >= limit:
        raise _too_many(failures[-1] + WINDOW - now)
    return len(failures)


def record_failure(session: Session, subject_hash: str, limit: int) -> None:
    """Counts one more failure. Raises `RateLimited`, adding nothing, where the limit was reached
    meanwhile: requests sent side by side get no more answers than those sent one by one."""
    if session.get_bind().dialect.name == "postgresql":
        # SQLite has one writer at a time; here the subject's failures take turns.
        lock = text("SELECT pg_advisory_xact_lock(:key)")
        session.execute(lock, {"key": int(subject_hash[:15], 16)})
    check(session, subject_hash, limit)
    session.add(FailedSignIn(subject_hash=subject_hash))
    session.flush()


def forget(session: Session, subject_hash: str) -> None:
    """Starts the subject's count afresh, after it has proved who it is."""
    session.execute(delete(FailedSignIn).where(FailedSignIn.subject_hash == subject_hash))


def _too_many(wait: timedelta) -> RateLimited:
    seconds = max(1, math.ceil(wait.total_seconds()))
    words = f"Too many failed attempts. Try again {in_minutes(seconds)}."
    return RateLimited(words, seconds, "too_many_failures")
