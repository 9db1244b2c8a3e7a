"""Tests of an account's connection: requested by a user, run by the worker, stored with the
account."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import Session

from app.gateways.carriers.partner_accounts import AccountCredentials, AccountTestResult
from app.gateways.job_queue import enqueue_check
from app.models import CarrierAccount, CarrierAccountTest, new_id
from app.policy.caller import Caller, system_caller
from app.services.carrier_accounts.accounts import activate, get
from app.services.carrier_accounts.checks import is_running, restart
from app.services.carrier_accounts.selection import credentials, numbers_of
from app.services.tenancy import of_tenant

WORKER = system_caller("Connection test")


@dataclass(frozen=True, slots=True)
class AccountTest:
    """The data of a test. ``credentials`` is None if the stored secret can't be read."""

    account: CarrierAccount
    credentials: AccountCredentials | None
    numbers: list[str]


def enqueue_test(session: Session, caller: Caller, account_id: UUID) -> CarrierAccount:
    """Queue a test of the account, unless one is running. Raises `Forbidden` and `NotFound`."""
    account = get(session, caller, account_id, for_change=True)
    test = session.get(CarrierAccountTest, account.id, populate_existing=True)
    if not is_running(test):
        _queue(session, account)
    return account


def _queue(session: Session, account: CarrierAccount) -> None:
    restart(session, CarrierAccountTest, account.id)
    enqueue_check(session, "test_carrier_account", new_id(), account.partner_id, str(account.id))


def failing(
    session: Session, caller: Caller, limit: int, *, is_pending: bool = False
) -> list[CarrierAccount]:
    """Return the caller's accounts in use, or the pending ones, whose last test failed, newest
    first."""
    query = _failing_query(caller, is_pending=is_pending).order_by(CarrierAccount.id.desc())
    return list(session.scalars(query.limit(limit)))


def any_failing(caller: Caller) -> ColumnElement[bool]:
    """Return whether `failing` finds any account in use."""
    return _failing_query(caller, is_pending=False).exists()


def _failing_query(caller: Caller, *, is_pending: bool) -> Select[CarrierAccount]:
    query = select(CarrierAccount).join(CarrierAccountTest)
    query = of_tenant(query, caller, CarrierAccount.partner_id, CarrierAccount.organization_id)
    return query.where(
        CarrierAccount.removed_at.is_(None),
        CarrierAccount.is_pending if is_pending else ~CarrierAccount.is_pending,
        CarrierAccountTest.works.is_(False),
    )


def begin(session: Session, keys: Sequence[str], account_id: UUID) -> AccountTest | None:
    """For the worker: return what to test; None if the account is gone or its test has ended."""
    test = session.get(CarrierAccountTest, account_id)
    account = session.get(CarrierAccount, account_id)
    if test is None or account is None or test.checked_at is not None:
        return None
    opened = credentials(session, keys, account_id)
    return AccountTest(account, opened, numbers_of(session, account))


def end(
    session: Session, account_id: UUID, result: AccountTestResult, version: int
) -> CarrierAccount | None:
    """For the worker: store the result of the test of this ``version`` of the account, or queue
    another test if the account was changed meanwhile. A pending account that works is used by live
    calls from now on: return the account in use."""
    test = session.get(CarrierAccountTest, account_id)
    account = session.get(CarrierAccount, account_id)
    if test is None or account is None or test.checked_at is not None:
        return None
    if account.version != version:
        _queue(session, account)
        return None
    test.end(result.works, result.message)
    if not result.works or not account.is_pending:
        return None
    used = activate(session, WORKER, account_id)
    if used is not account:
        used_test = session.get(CarrierAccountTest, used.id) or CarrierAccountTest(
            account_id=used.id
        )
        used_test.requested_at, used_test.checked_at = test.requested_at, test.checked_at
        used_test.works, used_test.message = test.works, test.message
        session.add(used_test)
    return used
