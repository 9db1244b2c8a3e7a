"""Notifications: the entries of the history that happened while a user didn't look.

Which of them are unread depends on one time of each user.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache

from sqlalchemy import Select, or_, select, update
from sqlalchemy.orm import Session

from app.models import AuditEntry, User, utcnow
from app.models.audit import IS_NOTIFIED, NOTIFIED_ACTIONS
from app.models.base import id_at
from app.policy import Permission
from app.policy.caller import Caller
from app.services.paging import Page, Sort, counting_up_to, keyset_page
from app.services.tenancy import of_tenant

KEPT = timedelta(days=14)
MOST_COUNTED = 99
NEWEST_FIRST = Sort(AuditEntry.id, descending=True)
_NEEDED: dict[str, Permission] = {
    "alert": Permission.REPORT_READ,
    "dialling": Permission.CALLS_READ,
    "mail": Permission.USERS_WRITE,
    "organization": Permission.ORGANIZATIONS_WRITE,
    "partner": Permission.PARTNER_WRITE,
    "phone_number": Permission.ORGANIZATIONS_READ,
    "upload": Permission.CONTACTS_WRITE,
    "user": Permission.AUDIT_READ,
    "webhook": Permission.CREDENTIALS_MANAGE,
}
"""The permission that a user needs for notifications, by the noun of the action."""


def listing(
    session: Session, caller: Caller, *, cursor: str | None = None, limit: int = 25
) -> Page[tuple[AuditEntry, bool]]:
    """Return a page of the caller's notifications, newest first, each with whether it is unread.
    Raises `ValidationFailed` (``invalid_cursor``)."""
    rows = _visible(caller, utcnow() - KEPT)
    page = keyset_page(session, rows, NEWEST_FIRST, cursor=cursor, limit=limit)
    read_at = _read_at(session, caller)
    shown = [(entry, read_at is None or entry.at > read_at) for entry in page.items]
    return Page(shown, page.next_cursor)


def count_unread(session: Session, caller: Caller) -> int:
    """Return how many notifications are unread, up to `MOST_COUNTED` + 1: one query."""
    since = utcnow().replace(minute=0, second=0, microsecond=0) - KEPT
    counting = _counting(replace(caller, ip=None, request_id=None), since)
    return session.scalar(counting) or 0


@lru_cache(200)
def _counting(caller: Caller, since: datetime) -> Select[int]:
    """Every page counts: making the statement takes longer than running it."""
    read_at = select(User.notifications_read_at).where(User.id == caller.user_id).scalar_subquery()
    rows = _visible(caller, since).where(or_(read_at.is_(None), AuditEntry.at > read_at))
    return counting_up_to(rows.with_only_columns(AuditEntry.id), MOST_COUNTED)


def mark_read(session: Session, caller: Caller) -> None:
    """Mark all notifications of the caller as read."""
    own = update(User).where(User.id == caller.user_id)
    session.execute(own.values(notifications_read_at=utcnow(), updated_at=User.updated_at))


def _visible(caller: Caller, since: datetime) -> Select[AuditEntry]:
    actions = [
        action for action in NOTIFIED_ACTIONS if caller.may(_NEEDED[action.partition(".")[0]])
    ]
    others = or_(AuditEntry.actor_id.is_(None), AuditEntry.actor_id != caller.subject_id)
    rows = select(AuditEntry).where(IS_NOTIFIED, AuditEntry.id >= id_at(since), others)
    if len(actions) < len(NOTIFIED_ACTIONS):
        rows = rows.where(AuditEntry.action.in_(actions))
    return of_tenant(rows, caller, AuditEntry.partner_id, AuditEntry.organization_id)


def _read_at(session: Session, caller: Caller) -> datetime | None:
    return session.scalar(select(User.notifications_read_at).where(User.id == caller.user_id))
