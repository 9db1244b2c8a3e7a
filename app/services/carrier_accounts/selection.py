"""Select the account of a call, and return its credentials."""

from collections.abc import Collection, Iterable, Sequence
from uuid import UUID

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from app.gateways.carriers.partner_accounts import AccountCredentials
from app.models import Assistant, Call, CallAttempt, CarrierAccount
from app.policy.caller import Caller
from app.services.carrier_accounts.account_fields import AccountFields, trunk_of
from app.services.carrier_accounts.secret_retention import PURPOSE
from app.services.credentials.encryption import try_unseal
from app.services.tenancy import of_tenant

NUMBERS_CHECKED = 10


def effective(session: Session, partner_id: UUID, organization_id: UUID) -> CarrierAccount | None:
    """Return the account that a live call of the organization uses; None for the installation's."""
    accounts = of_owners(session, (partner_id, organization_id))
    return accounts.get(organization_id) or accounts.get(partner_id)


def of_owners(session: Session, owner_ids: Collection[UUID]) -> dict[UUID, CarrierAccount]:
    """Return the accounts in use of these partners and organizations, by owner."""
    query = select(CarrierAccount).where(
        CarrierAccount.owner_id.in_(owner_ids), CarrierAccount.removed_at.is_(None)
    )
    return {account.owner_id: account for account in session.scalars(query)}


def in_use_of(session: Session, caller: Caller, limit: int) -> list[CarrierAccount]:
    """Return the caller's accounts in use, the partner's first, then the newest."""
    query = of_tenant(
        select(CarrierAccount), caller, CarrierAccount.partner_id, CarrierAccount.organization_id
    ).where(CarrierAccount.removed_at.is_(None), ~CarrierAccount.is_pending)
    order = CarrierAccount.organization_id.is_not(None), CarrierAccount.id.desc()
    return list(session.scalars(query.order_by(*order).limit(limit)))


def of_call(session: Session, assistant: Assistant, *, live: bool) -> CarrierAccount | None:
    """Return the account that a new call of the assistant uses; None with a test key."""
    return effective(session, assistant.partner_id, assistant.organization_id) if live else None


def choose_again(session: Session, call: Call) -> None:
    """Choose the account again before placing: the call uses its account, or the one that replaced
    it."""
    if call.account_id is None:
        return
    account = session.get(CarrierAccount, call.account_id)
    if account is None or account.removed_at is not None:
        current = effective(session, call.partner_id, call.organization_id)
        call.account_id = current.id if current else None
        call.carrier = current.carrier if current else call.carrier


def credentials(
    session: Session, keys: Sequence[str], account_id: UUID
) -> AccountCredentials | None:
    """Return the credentials of the account, even if it was removed; None if they are deleted."""
    account = session.get(CarrierAccount, account_id, populate_existing=True)
    if account is None:
        return None
    secret = try_unseal(account.secret, PURPOSE, keys)
    if secret is None:
        return None
    return AccountCredentials(account.id, account.version, secret, account.sid, trunk_of(account))


def of_attempt(
    session: Session, keys: Sequence[str], attempt_id: UUID
) -> AccountCredentials | None:
    """Return the credentials of the attempt's account; None for the installation's."""
    account_id = session.scalar(select(CallAttempt.account_id).where(CallAttempt.id == attempt_id))
    return credentials(session, keys, account_id) if account_id is not None else None


def numbers_of(session: Session, account: CarrierAccount) -> list[str]:
    """Return numbers of assistants that call over the account; only some of them if there are
    many."""
    query = select(Assistant.phone_number).where(Assistant.phone_number.is_not(None)).distinct()
    query = query.where(*calling_over(account))
    query = query.order_by(Assistant.phone_number).limit(NUMBERS_CHECKED)
    return [number for number in session.scalars(query) if number]


def calling_over(account: CarrierAccount) -> tuple[ColumnElement[bool], ...]:
    """Return the condition for assistants that call over the account, or will if it is pending."""
    if account.organization_id is not None:
        return (Assistant.organization_id == account.organization_id,)
    with_account = select(CarrierAccount.organization_id).where(
        CarrierAccount.owner_id == CarrierAccount.organization_id,
        CarrierAccount.removed_at.is_(None),
    )
    return Assistant.partner_id == account.partner_id, Assistant.organization_id.not_in(
        with_account
    )


def count_numbers(session: Session, accounts: Iterable[CarrierAccount]) -> dict[UUID, int]:
    """Return how many phone numbers call over each account, or will once it is used."""
    by_organization = {
        account.organization_id: account.id for account in accounts if account.organization_id
    }
    number = func.count(Assistant.phone_number.distinct())
    by_owner = select(Assistant.organization_id, number).group_by(Assistant.organization_id)
    counts = {}
    if by_organization:
        rows = session.execute(by_owner.where(Assistant.organization_id.in_(by_organization)))
        counts = {by_organization[owner_id]: count for owner_id, count in rows}
    for account in accounts:
        if account.organization_id is None:
            counts[account.id] = session.scalar(select(number).where(*calling_over(account))) or 0
    return counts


def same_in_use(session: Session, account: CarrierAccount) -> CarrierAccount | None:
    """Return the account in use if the pending one holds new credentials for it."""
    owner_id = account.organization_id or account.partner_id
    current = of_owners(session, [owner_id]).get(owner_id)
    pending = AccountFields("", sid=account.sid, trunk=trunk_of(account))
    return current if current is not None and pending.is_same_as(current) else None
