"""Notifications: the entries of the history that happened while a user wasn't looking.

Unread are those after the user last marked all as read, except for those marked one by one since.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, delete, exists, literal, or_, select, update
from sqlalchemy.orm import Session

from app.models import AuditEntry, ReadNotification, User, utcnow
from app.models.audit import CALLING_PAUSE, IS_NOTIFIED, NOTIFIED_ACTIONS
from app.models.base import id_at
from app.policy import Permission
from app.policy.caller import Caller
from app.services.paging import Page, SortOrder, counting_up_to, keyset_page
from app.services.tenancy import of_tenant
from app.services.uniqueness import insert_into

RETENTION = timedelta(days=14)
MAX_COUNTED = 99
NEWEST_FIRST = SortOrder(AuditEntry.id, descending=True)
_NEEDED: dict[str, Permission] = {
    "alert": Permission.REPORT_READ,
    "campaign": Permission.CAMPAIGNS_READ,
    CALLING_PAUSE: Permission.CALLS_READ,
    "mail": Permission.USERS_WRITE,
    "organization": Permission.ORGANIZATIONS_WRITE,
    "partner": Permission.PARTNER_WRITE,
    "phone_number": Permission.ORGANIZATIONS_READ,
    "upload": Permission.CONTACTS_WRITE,
    "user": Permission.AUDIT_READ,
    "webhook": Permission.CREDENTIALS_MANAGE,
}
"""The permission that a user needs for notifications, by the noun of the action."""


def kinds(caller: Caller) -> list[str]:
    """Return the nouns of the actions that the caller is notified of."""
    return list(dict.fromkeys(action.partition(".")[0] for action in _visible_actions(caller)))


def listing(
    session: Session,
    caller: Caller,
    *,
    kind: str | None = None,
    unread: bool = False,
    cursor: str | None = None,
    limit: int = 25,
) -> Page[tuple[AuditEntry, bool]]:
    """Return a page of the caller's notifications, newest first, each with whether it is unread;
    of one of `kinds`, or only unread ones. Raises `ValidationFailed` (``invalid_cursor``)."""
    rows = _visible_entries(caller, utcnow() - RETENTION)
    if kind is not None:
        rows = rows.where(AuditEntry.action.startswith(f"{kind}.", autoescape=True))
    if unread:
        rows = rows.where(_is_unread(caller))
    page = keyset_page(session, rows, NEWEST_FIRST, cursor=cursor, limit=limit)
    ids = [entry.id for entry in page.items]
    still = select(AuditEntry.id).where(AuditEntry.id.in_(ids), _is_unread(caller))
    unread_ids = set(session.scalars(still))
    return Page([(entry, entry.id in unread_ids) for entry in page.items], page.next_cursor)


def get(session: Session, caller: Caller, entry_id: UUID) -> AuditEntry | None:
    """Return a notification of the caller; None if there is none with this id."""
    return session.scalar(
        _visible_entries(caller, utcnow() - RETENTION).where(AuditEntry.id == entry_id)
    )


def count_unread(session: Session, caller: Caller) -> int:
    """Return how many notifications are unread, up to `MAX_COUNTED` + 1: one query."""
    counting = counting_unread(replace(caller, ip=None, request_id=None), kept_since())
    return session.scalar(counting) or 0


def kept_since() -> datetime:
    """Return the start of the period of notifications, constant for an hour."""
    return utcnow().replace(minute=0, second=0, microsecond=0) - RETENTION


@lru_cache(200)
def counting_unread(caller: Caller, since: datetime) -> Select[int]:
    """Return the statement of `count_unread`, cached: every page counts, and building it takes
    longer than running it."""
    rows = _visible_entries(caller, since).where(_is_unread(caller))
    return counting_up_to(rows.with_only_columns(AuditEntry.id), MAX_COUNTED)


def mark_all_read(session: Session, caller: Caller) -> None:
    statement = update(User).where(User.id == caller.user_id)
    session.execute(statement.values(notifications_read_at=utcnow(), updated_at=User.updated_at))
    session.execute(delete(ReadNotification).where(ReadNotification.user_id == caller.user_id))


def mark_read(session: Session, caller: Caller, *conditions: ColumnElement[bool]) -> None:
    """Mark the unread notifications of the caller that meet the conditions on `AuditEntry` as
    read."""
    if caller.user_id is None:
        return
    rows = _visible_entries(caller, utcnow() - RETENTION).where(_is_unread(caller), *conditions)
    _store_read(session, rows.with_only_columns(literal(caller.user_id), AuditEntry.id))
    past = ReadNotification.entry_id < id_at(utcnow() - RETENTION)
    is_own = ReadNotification.user_id == caller.user_id
    session.execute(delete(ReadNotification).where(is_own, past))


def mark_read_by_staff(
    session: Session, caller: Caller, partner_id: UUID, *conditions: ColumnElement[bool]
) -> None:
    """Mark the notifications that meet the conditions on `AuditEntry` as read for the caller and
    all staff of the partner, because one of them has handled them."""
    mark_read(session, caller, *conditions)
    staff = User.partner_id == partner_id, User.organization_id.is_(None)
    since = AuditEntry.id >= id_at(utcnow() - RETENTION)
    entries = select(User.id, AuditEntry.id).join(AuditEntry, AuditEntry.partner_id == partner_id)
    _store_read(session, entries.where(*staff, IS_NOTIFIED, since, *conditions))


def _store_read(session: Session, rows: Select[UUID, UUID]) -> None:
    """Store the selected ids of users and entries, as many as there are, in one statement."""
    added = insert_into(session, ReadNotification).from_select(["user_id", "entry_id"], rows)
    session.execute(added.on_conflict_do_nothing())


def _visible_actions(caller: Caller) -> list[str]:
    return [action for action in NOTIFIED_ACTIONS if caller.may(_NEEDED[action.partition(".")[0]])]


def _is_unread(caller: Caller) -> ColumnElement[bool]:
    read_at = select(User.notifications_read_at).where(User.id == caller.user_id).scalar_subquery()
    read_alone = exists().where(
        ReadNotification.user_id == caller.user_id, ReadNotification.entry_id == AuditEntry.id
    )
    return and_(or_(read_at.is_(None), AuditEntry.at > read_at), ~read_alone)


def _visible_entries(caller: Caller, since: datetime) -> Select[AuditEntry]:
    actions = _visible_actions(caller)
    by_others = or_(AuditEntry.actor_id.is_(None), AuditEntry.actor_id != caller.subject_id)
    rows = select(AuditEntry).where(IS_NOTIFIED, AuditEntry.id >= id_at(since), by_others)
    if len(actions) < len(NOTIFIED_ACTIONS):
        rows = rows.where(AuditEntry.action.in_(actions))
    return of_tenant(rows, caller, AuditEntry.partner_id, AuditEntry.organization_id)
