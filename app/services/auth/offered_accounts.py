"""The accounts that one password opens, offered once after a sign-in without a partner.

Choosing needs the token of the page and that of the browser's cookie, within `LIFETIME`. Any choice
ends the offer. A sign-in, a sign-out, a new password and a suspension end it too.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.orm import Session

from app.models import OfferedAccount, utcnow
from app.services.auth.tokens import hash_of, random_token

LIFETIME = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class AccountOffer:
    """The two tokens of a new offer (256 bits each); only their hashes are stored."""

    page_token: str
    browser_token: str


def create(session: Session, user_ids: Collection[UUID]) -> AccountOffer:
    """Offer these accounts, whose password was just proven."""
    offer = AccountOffer(random_token(), random_token())
    for user_id in user_ids:
        session.add(
            OfferedAccount(
                token_hash=hash_of(offer.page_token),
                user_id=user_id,
                browser_hash=hash_of(offer.browser_token),
                expires_at=utcnow() + LIFETIME,
            )
        )
    session.flush()
    return offer


def redeem(session: Session, offer: AccountOffer) -> set[UUID]:
    """Return the accounts of the offer and end it; empty if it has ended. Of two concurrent uses
    only one gets them."""
    used = (
        delete(OfferedAccount)
        .where(
            OfferedAccount.token_hash == hash_of(offer.page_token),
            OfferedAccount.browser_hash == hash_of(offer.browser_token),
        )
        .returning(OfferedAccount.user_id, OfferedAccount.expires_at)
        .execution_options(synchronize_session=False)
    )
    now = utcnow()
    return {user_id for user_id, expires_at in session.execute(used) if expires_at > now}


def end_for_user(session: Session, user_id: UUID) -> None:
    """End every offer that contains the user."""
    token_hashes = select(OfferedAccount.token_hash).where(OfferedAccount.user_id == user_id)
    _delete(session, OfferedAccount.token_hash.in_(token_hashes))


def end_in_browser(session: Session, browser_token: str) -> None:
    """End the offer in the browser with this token."""
    _delete(session, OfferedAccount.browser_hash == hash_of(browser_token))


def _delete(session: Session, condition: ColumnElement[bool]) -> None:
    session.execute(
        delete(OfferedAccount).where(condition).execution_options(synchronize_session=False)
    )
