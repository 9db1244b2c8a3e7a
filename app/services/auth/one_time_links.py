"""Links sent by mail that work once and for a short time: invitations and passwords.

Only the hash of a link's token is stored. A new link leaves older ones valid, so that strangers who
request links end none of the owner's. The first one that sets a password ends all others.
"""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from app.errors import NotFound
from app.languages import gettext
from app.models import LinkPurpose, OneTimeLink, User, utcnow
from app.services.auth.tokens import hash_of, random_token

LIFETIME = {
    LinkPurpose.INVITATION: timedelta(days=7),
    LinkPurpose.SET_PASSWORD: timedelta(days=7),
    LinkPurpose.RESET_PASSWORD: timedelta(hours=1),
}


def create(session: Session, user_id: UUID, purpose: LinkPurpose) -> str:
    """Return the token of a new link (256 bits); only its hash is stored."""
    token = random_token()
    session.add(
        OneTimeLink(
            token_hash=hash_of(token),
            user_id=user_id,
            purpose=purpose,
            expires_at=utcnow() + LIFETIME[purpose],
        )
    )
    session.flush()
    return token


def look_up(session: Session, token: str, *purposes: LinkPurpose) -> User:
    """Return the user of a link without using it up (mail scanners open links, too).

    Raises `NotFound` (``link_invalid``) if it is unknown, used, expired or replaced.
    """
    user = session.scalars(
        select(User)
        .join(OneTimeLink, OneTimeLink.user_id == User.id)
        .where(
            OneTimeLink.token_hash == hash_of(token),
            OneTimeLink.purpose.in_(purposes),
            OneTimeLink.used_at.is_(None),
            OneTimeLink.expires_at > utcnow(),
        )
    ).one_or_none()
    if user is None:
        raise invalid_link_error()
    return user


def redeem(session: Session, token: str, *purposes: LinkPurpose) -> User:
    """Use the link up and return its user, locked; of two concurrent uses only one succeeds.

    The user is locked before the link: so do changes of users, which end links. Raises `NotFound`
    (``link_invalid``).
    """
    user = look_up(session, token, *purposes)
    session.refresh(user, with_for_update=True)
    now = utcnow()
    user_id = session.scalar(
        update(OneTimeLink)
        .where(
            OneTimeLink.token_hash == hash_of(token),
            OneTimeLink.purpose.in_(purposes),
            OneTimeLink.used_at.is_(None),
            OneTimeLink.expires_at > now,
        )
        .values(used_at=now)
        .returning(OneTimeLink.user_id)
    )
    if user_id is None:
        raise invalid_link_error()
    return user


def end_all(session: Session, user_id: UUID) -> None:
    """End every open link of the user."""
    session.execute(
        delete(OneTimeLink).where(OneTimeLink.user_id == user_id, OneTimeLink.used_at.is_(None))
    )


def invalid_link_error() -> NotFound:
    """Return the error for every link that does not work."""
    return NotFound(
        gettext("This link was used or has expired. Request a new one."), "link_invalid"
    )
