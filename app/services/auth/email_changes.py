"""New email addresses that wait for confirmation at the old and the new address, and their links.

Services of users request and apply them; this module has the row and the tokens of its two links.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from sqlalchemy import delete, or_, select
from sqlalchemy.orm import Session

from app.errors import NotFound
from app.languages import gettext
from app.models import EmailChange, utcnow
from app.services.auth.tokens import hash_of, random_token

LIFETIME = timedelta(days=7)


class AddressSide(StrEnum):
    """The address that a link was sent to."""

    OLD = "old"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class EmailChangeLink:
    """A change as the holder of one address sees it."""

    change: EmailChange
    side: AddressSide

    @property
    def is_confirmed(self) -> bool:
        return confirmed_at(self.change, self.side) is not None


def pending(session: Session, user_id: UUID, *, for_change: bool = False) -> EmailChange | None:
    """Return the pending change of a user that the caller has loaded."""
    query = select(EmailChange).where(
        EmailChange.user_id == user_id, EmailChange.expires_at > utcnow()
    )
    if for_change:
        query = query.with_for_update().execution_options(populate_existing=True)
    return session.scalars(query).one_or_none()


def create(
    session: Session, user_id: UUID, email: str, *, requested_by: str, requested_by_id: UUID | None
) -> EmailChange:
    """Create a pending change, in place of an earlier one."""
    end(session, user_id)
    change = EmailChange(
        user_id=user_id,
        email=email,
        requested_by=requested_by[:200],
        requested_by_id=requested_by_id,
        expires_at=utcnow() + LIFETIME,
    )
    session.add(change)
    session.flush()
    return change


def end(session: Session, user_id: UUID) -> None:
    """Delete the user's pending change, if there is one: neither link works any more."""
    session.execute(delete(EmailChange).where(EmailChange.user_id == user_id))


def new_token(session: Session, change_id: UUID, side: AddressSide) -> tuple[str, datetime] | None:
    """Return a new token for one address, which replaces the previous one, and when it expires;
    None if the change no longer waits for this address."""
    change = session.get(EmailChange, change_id, with_for_update=True, populate_existing=True)
    if change is None or change.expires_at <= utcnow() or confirmed_at(change, side) is not None:
        return None
    token = random_token()
    if side is AddressSide.OLD:
        change.old_token_hash = hash_of(token)
    else:
        change.new_token_hash = hash_of(token)
    session.flush()
    return token, change.expires_at


def look_up(session: Session, token: str, *, for_change: bool = False) -> EmailChangeLink:
    """Return the change and the address of the link. It works until the change is over.

    Raises `NotFound` (``link_invalid``).
    """
    hashed = hash_of(token)
    query = select(EmailChange).where(
        or_(EmailChange.old_token_hash == hashed, EmailChange.new_token_hash == hashed),
        EmailChange.expires_at > utcnow(),
    )
    if for_change:
        query = query.with_for_update().execution_options(populate_existing=True)
    change = session.scalars(query).one_or_none()
    if change is None:
        message = gettext("This link was used or has expired. Nothing was changed.")
        raise NotFound(message, "link_invalid")
    return EmailChangeLink(
        change, AddressSide.OLD if change.old_token_hash == hashed else AddressSide.NEW
    )


def confirm(session: Session, link: EmailChangeLink) -> bool:
    """Record that the holder of the address agrees; return whether both now do."""
    if link.side is AddressSide.OLD:
        link.change.old_confirmed_at = link.change.old_confirmed_at or utcnow()
    else:
        link.change.new_confirmed_at = link.change.new_confirmed_at or utcnow()
    session.flush()
    return all(confirmed_at(link.change, side) is not None for side in AddressSide)


def confirmed_at(change: EmailChange, side: AddressSide) -> datetime | None:
    return change.old_confirmed_at if side is AddressSide.OLD else change.new_confirmed_at
