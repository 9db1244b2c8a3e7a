"""A partner's own account at the payment processor: its keys, and tests of the connection."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Session

from app.database import read_once
from app.errors import NotFound, Problem, check_version, raise_problems
from app.gateways.job_queue import enqueue_check
from app.gateways.processors.stripe import is_installed
from app.languages import gettext
from app.models import ProcessorAccount, new_id
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, partners
from app.services.credentials.encryption import SealBroken, seal, unseal

PURPOSE = "processor-account"
WEBHOOK_PURPOSE = "processor-webhook"
SECRET = re.compile(r"(?:sk|rk)_[A-Za-z0-9_]{8,250}")
ACCOUNT = re.compile(r"acct_[A-Za-z0-9]{6,90}")
WEBHOOK_SECRET = re.compile(r"whsec_[A-Za-z0-9_+/=]{8,250}")


@dataclass(frozen=True, slots=True)
class AccountKeys:
    """The credentials of an account. A blank ``secret`` is the installation's own key, for the
    connected account ``account_id``."""

    secret: str = ""
    account_id: str = ""
    webhook_secret: str = ""


@dataclass(frozen=True, slots=True)
class AccountTest:
    """A test of an account. ``keys`` is None if they can't be read."""

    keys: AccountKeys | None
    requested_at: datetime | None


def find(session: Session, caller: Caller, partner_id: UUID) -> ProcessorAccount | None:
    """Return the partner's account, if it has one. Raises `Forbidden`, `NotFound`."""
    caller.require(Permission.CREDENTIALS_MANAGE)
    partners.check(session, caller, partner_id)
    # nosemgrep: row-by-id-for-a-caller - partners.check allowed it
    return session.get(ProcessorAccount, partner_id)


def is_connected(session: Session, partner_id: UUID) -> bool:
    """Return whether the partner has an account. A read-only transaction reads it once."""
    key = (ProcessorAccount, partner_id)
    return read_once(session, key, lambda: session.get(ProcessorAccount, partner_id)) is not None


def save(
    session: Session,
    caller: Caller,
    keys: Sequence[str],
    partner_id: UUID,
    submitted: AccountKeys,
    *,
    may_connect: bool,
    expected_version: int | None = None,
) -> ProcessorAccount:
    """Set the account and queue a test of it. Blank secrets keep the stored ones.

    ``may_connect``: the installation has a key, which needs only the id of a connected account.
    Raises `Forbidden`, `NotFound`, `ValidationFailed` and `Conflict` (``changed_meanwhile``).
    """
    caller.require(Permission.CREDENTIALS_MANAGE)
    partners.get(session, caller, partner_id, for_change=True)
    # nosemgrep: row-by-id-for-a-caller - partners.get allowed it
    account = session.get(ProcessorAccount, partner_id, populate_existing=True)
    check_version(expected_version, account.version if account else 0, "account")
    has_key = bool(submitted.secret or (account and account.secret))
    raise_problems(_problems(submitted, may_connect=may_connect, has_key=has_key))
    before = _audit_values(account) if account else {}
    if account is None:
        account = ProcessorAccount(partner_id=partner_id, version=0)
        session.add(account)
    account.account_id = submitted.account_id
    if submitted.secret:
        account.secret = seal(submitted.secret, PURPOSE, keys)
    if submitted.webhook_secret:
        account.webhook_secret = seal(submitted.webhook_secret, WEBHOOK_PURPOSE, keys)
    account.version += 1
    session.flush()
    # nosec B105 - the history stores that it changed, not the secret
    changed = {"secret": "changed"} if submitted.secret else {}
    _record_account(session, caller, "saved", account, before, _audit_values(account) | changed)
    enqueue_test(session, caller, partner_id)
    return account


def remove(session: Session, caller: Caller, partner_id: UUID) -> None:
    """Remove the account and its keys. Products and prices stay at the processor. Raises
    `Forbidden`, `NotFound`."""
    account = _get(session, caller, partner_id)
    _record_account(session, caller, "removed", account, _audit_values(account), {})
    session.delete(account)
    session.flush()


def enqueue_test(session: Session, caller: Caller, partner_id: UUID) -> None:
    """Queue a test of the connection. Raises `Forbidden`, `NotFound`."""
    account = _get(session, caller, partner_id)
    account.restart()
    session.flush()
    enqueue_check(session, "test_processor_account", new_id(), partner_id, str(partner_id))


def begin_test(session: Session, keys: Sequence[str], partner_id: UUID) -> AccountTest | None:
    """For the worker: return what to test; None if the account is gone."""
    account = session.get(ProcessorAccount, partner_id)
    if account is None:
        return None
    return AccountTest(open_account_keys(session, keys, partner_id), account.requested_at)


def end_test(
    session: Session, partner_id: UUID, test: AccountTest, *, works: bool, message: str
) -> None:
    """For the worker: store the result of the test, unless another one, such as that of a new key,
    was requested meanwhile."""
    account = session.get(ProcessorAccount, partner_id, with_for_update=True)
    if account is not None and account.requested_at == test.requested_at:
        account.end(works, message)


def open_account_keys(
    session: Session, keys: Sequence[str], partner_id: UUID
) -> AccountKeys | None:
    """Return the keys of the partner's account; None without one, or if they can't be read."""
    account = session.get(ProcessorAccount, partner_id)
    if account is None:
        return None
    try:
        return AccountKeys(
            unseal(account.secret, PURPOSE, keys).text if account.secret else "",
            account.account_id,
            unseal(account.webhook_secret, WEBHOOK_PURPOSE, keys).text
            if account.webhook_secret
            else "",
        )
    except SealBroken:
        return None


def _get(session: Session, caller: Caller, partner_id: UUID) -> ProcessorAccount:
    account = find(session, caller, partner_id)
    if account is None:
        raise NotFound
    return account


def _problems(submitted: AccountKeys, *, may_connect: bool, has_key: bool) -> Iterator[Problem]:
    if not is_installed():
        message = gettext("Stripe support isn’t installed here. Ask the operator of the portal.")
        yield Problem("secret", "not_installed", message)
    if submitted.secret and not SECRET.fullmatch(submitted.secret):
        message = gettext("Enter a secret key like sk_live_… or a restricted key like rk_live_…")
        yield Problem("secret", "invalid_value", message)
    if not has_key and not (may_connect and submitted.account_id):
        message = gettext("Enter the secret key of your Stripe account.")
        if may_connect:
            message = gettext(
                "Enter a secret key, or the ID of an account connected to this platform."
            )
        yield Problem("secret", "required", message)
    if submitted.account_id and not ACCOUNT.fullmatch(submitted.account_id):
        message = gettext("Enter an account ID like acct_1N…")
        yield Problem("accountId", "invalid_value", message)
    if submitted.webhook_secret and not WEBHOOK_SECRET.fullmatch(submitted.webhook_secret):
        message = gettext("Enter a signing secret like whsec_…")
        yield Problem("webhookSecret", "invalid_value", message)


def _audit_values(account: ProcessorAccount) -> dict[str, str]:
    return {"accountId": account.account_id}


def _record_account(
    session: Session,
    caller: Caller,
    verb: str,
    account: ProcessorAccount,
    before: dict[str, str],
    after: dict[str, str],
) -> None:
    audit.record(
        session,
        caller,
        action=f"processor_account.{verb}",
        target_type="partner",
        target_id=account.partner_id,
        partner_id=account.partner_id,
        target="Stripe",
        before=before,
        after=after,
    )
