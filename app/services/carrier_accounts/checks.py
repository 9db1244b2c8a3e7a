"""What the worker checks of carrier accounts on request: the last test of each account's
connection, and the last reading of its numbers."""

from collections.abc import Iterable
from typing import TypeVar
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import AccountCheck, CarrierAccount

C = TypeVar("C", bound=AccountCheck)


def is_running(check: AccountCheck | None) -> bool:
    return check is not None and check.is_running


def restart(session: Session, kind: type[C], account_id: UUID) -> None:
    """Store that the check was requested now and has no result yet."""
    check = session.get(kind, account_id, populate_existing=True)
    if check is None:
        check = kind(account_id=account_id)
        session.add(check)
    check.restart()
    session.flush()


def last_checks(
    session: Session, kind: type[C], accounts: Iterable[CarrierAccount]
) -> dict[UUID, C]:
    """Return the last check of each of these accounts that was checked."""
    ids = [account.id for account in accounts]
    if not ids:
        return {}
    checks = session.scalars(select(kind).where(kind.account_id.in_(ids)))
    return {check.account_id: check for check in checks}
