"""Facts about the installation as a whole."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from app.database import read_once
from app.enums import CarrierKind
from app.models import CarrierAccount, Mail, User, utcnow

MAILS_OF = timedelta(days=1)
LATE = timedelta(minutes=5)
"""Waiting time from which work is delayed."""
FAILED_WITHIN = timedelta(days=7)
"""Period whose failed jobs are shown."""

_DEMO_ACCOUNTS = User.email_key.like("%.example")
"""Domain of the demo's mail addresses; no real one ends like this (RFC 2606)."""


def is_late(oldest_at: datetime | None) -> bool:
    """Return whether the oldest of what waits is delayed; False if nothing waits."""
    return oldest_at is not None and oldest_at < utcnow() - LATE


def demo_accounts(session: Session) -> tuple[int, str | None]:
    """Return how many demo accounts there are, and the first of them."""
    count, first = session.execute(
        select(func.count(), func.min(User.email_key)).where(_DEMO_ACCOUNTS)
    ).one()
    return count, first


def twilio_accounts(session: Session) -> int:
    """Return how many accounts of partners are with Twilio."""
    query = select(func.count()).where(
        CarrierAccount.carrier == CarrierKind.TWILIO, CarrierAccount.removed_at.is_(None)
    )
    return session.scalar(query) or 0


@dataclass(frozen=True, slots=True)
class MailCounts:
    """The mails requested in `MAILS_OF`, and since when the oldest of them waits."""

    sent: int
    waiting: int
    failed: int
    oldest_at: datetime | None


def mails(session: Session) -> MailCounts:
    """Count them; a read-only transaction counts them once."""
    return read_once(session, (MailCounts,), lambda: _count_mails(session))


def _count_mails(session: Session) -> MailCounts:
    waits = Mail.sent_at.is_(None) & Mail.failed_at.is_(None)
    row = session.execute(
        select(
            func.count(Mail.sent_at),
            func.count().filter(waits),
            func.count(Mail.failed_at),
            func.min(Mail.created_at).filter(waits),
        ).where(Mail.created_at >= utcnow() - MAILS_OF)
    ).one()
    return MailCounts(*row)


@dataclass(frozen=True, slots=True)
class DatabaseServer:
    """The database server, and the bytes of all its tables and indexes."""

    kind: str
    version: str
    size: int


def database(session: Session) -> DatabaseServer:
    if session.get_bind().dialect.name == "sqlite":
        pages = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
        version, size = "SELECT sqlite_version()", pages
        kind = "SQLite"
    else:
        version = "SHOW server_version"
        size = "SELECT pg_database_size(current_database())"
        kind = "PostgreSQL"
    answers = [session.scalar(text(query)) for query in (version, size)]
    return DatabaseServer(kind, str(answers[0]).partition(" ")[0], int(answers[1] or 0))
