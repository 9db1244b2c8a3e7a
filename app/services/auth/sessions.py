"""Server-side sessions of the portal: a row for each, so that ending one ends it at once.

The cookie carries a random token of 256 bits, of which only the SHA-256 hash is stored.
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import bindparam, delete, select, update
from sqlalchemy.orm import Session, lazyload

from app.enums import CallerKind, OrganizationStatus, UserStatus
from app.errors import Unauthenticated
from app.models import Organization, Partner, PortalSession, User, utcnow
from app.policy import ROLE_PERMISSIONS
from app.policy.caller import Caller

TOUCH_EVERY = timedelta(minutes=1)

_VALID_SESSION = (
    select(PortalSession, User, Partner)
    .join(User, User.id == PortalSession.user_id)
    .outerjoin(Partner, Partner.id == User.partner_id)
    .outerjoin(Organization, Organization.id == User.organization_id)
    .where(
        PortalSession.token_hash == bindparam("token_hash"),
        PortalSession.expires_at > bindparam("now"),
        User.status == UserStatus.ACTIVE,
        Partner.suspended_at.is_(None),
        Organization.id.is_(None) | (Organization.status == OrganizationStatus.ACTIVE),
    )
    .options(lazyload("*"))
    .execution_options(populate_existing=True)
)
"""Who a session belongs to, while all of them may come in. Built once, since it is read with
every page."""


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A user's session. ``partner`` is None for the operator; its lists are not loaded."""

    caller: Caller
    user: User
    partner: Partner | None
    record: PortalSession

    @property
    def touch_due(self) -> bool:
        """Whether the last use that is stored is more than a minute old: see `touch`."""
        return utcnow() - self.record.seen_at >= TOUCH_EVERY or self.user.last_session is None


def create(
    session: Session,
    user: User,
    *,
    lifetime: timedelta,
    ip: str | None = None,
    user_agent: str | None = None,
) -> str:
    """A new session of the user. Returns the cookie's token."""
    token = secrets.token_urlsafe(32)
    now = utcnow()
    session.add(
        PortalSession(
            token_hash=hash_of(token),
            user_id=user.id,
            ip=ip,
            user_agent=user_agent[:500] if user_agent else None,
            created_at=now,
            seen_at=now,
            expires_at=now + lifetime,
        )
    )
    session.flush()
    note_times(session, user, last_session=now)
    return token


def load(
    session: Session,
    token: str | None,
    *,
    ip: str | None = None,
    request_id: str | None = None,
) -> SignedIn:
    """Who the session belongs to, as the database knows them at this moment.

    Raises `Unauthenticated` (``not_signed_in``) where the session has ended, or its user,
    organization or partner is not active any more.
    """
    found = None
    if token:
        sent = {"token_hash": hash_of(token), "now": utcnow()}
        found = session.execute(_VALID_SESSION, sent).one_or_none()
    if found is None:
        message = "Sign in first."
        raise Unauthenticated(message, "not_signed_in")
    record, user, partner = found
    return SignedIn(caller_of(user, ip=ip, request_id=request_id), user, partner, record)


def caller_of(user: User, *, ip: str | None = None, request_id: str | None = None) -> Caller:
    """The caller that a signed-in user is: role and permissions of this moment."""
    return Caller(
        kind=CallerKind.USER,
        role=user.user_type,
        subject_id=user.id,
        label=user.email,
        partner_id=user.partner_id,
        organization_id=user.organization_id,
        permissions=ROLE_PERMISSIONS[user.user_type],
        ip=ip,
        request_id=request_id,
    )


def touch(session: Session, signed_in: SignedIn) -> None:
    """Notes that the session is in use. For a short transaction of its own after the read, and
    only where ``touch_due``."""
    now = utcnow()
    session.execute(
        update(PortalSession)
        .where(PortalSession.token_hash == signed_in.record.token_hash)
        .values(seen_at=now)
    )
    note_times(session, signed_in.user, last_session=now)


def note_times(session: Session, user: User, **times: datetime) -> None:
    """Stores when the user was last seen; this is no update of the user (``updatedAt`` stays)."""
    session.execute(
        update(User).where(User.id == user.id).values(**times, updated_at=User.updated_at)
    )


def rotate(session: Session, token: str) -> str:
    """Gives the session a new token and ends the old one. Raises `Unauthenticated`."""
    new = secrets.token_urlsafe(32)
    renamed = session.execute(
        update(PortalSession)
        .where(PortalSession.token_hash == hash_of(token), PortalSession.expires_at > utcnow())
        .values(token_hash=hash_of(new))
        .returning(PortalSession.token_hash)
        .execution_options(synchronize_session=False)
    )
    if not renamed.all():
        message = "Sign in first."
        raise Unauthenticated(message, "not_signed_in")
    return new


def end(session: Session, token: str | None) -> None:
    """Ends a session; one that is over already is no error."""
    if token:
        session.execute(delete(PortalSession).where(PortalSession.token_hash == hash_of(token)))


def end_all_of_user(session: Session, user_id: UUID, *, except_token: str | None = None) -> int:
    """Ends every session of the user (password change, suspension); returns how many."""
    theirs = delete(PortalSession).where(PortalSession.user_id == user_id)
    if except_token:
        theirs = theirs.where(PortalSession.token_hash != hash_of(except_token))
    return len(session.execute(theirs.returning(PortalSession.token_hash)).all())


def hash_of(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
