"""List, set, use and remove accounts."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from uuid import UUID

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from app.enums import FINAL_CALL_STATUSES, OrganizationStatus
from app.errors import Conflict, NotFound, check_version
from app.languages import gettext, ngettext
from app.models import (
    Call,
    CarrierAccount,
    Organization,
    PartnerTier,
    new_id,
    utcnow,
)
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit
from app.services.carrier_accounts.account_fields import AccountFields, audit_values, check
from app.services.carrier_accounts.secret_retention import PURPOSE
from app.services.carrier_accounts.selection import same_in_use
from app.services.credentials import new_credential_mails
from app.services.credentials.encryption import seal
from app.services.paging import Page, SortOrder, keyset_page
from app.services.tenancy import fetch, lock_owner, of_tenant

_NEWEST = SortOrder(CarrierAccount.created_at, descending=True)


@dataclass(frozen=True, slots=True)
class CurrentAccount:
    """The account in use and the pending one, if there are any, and the version that fills a form.
    ``last_id`` is the account that was changed last, in use or not."""

    account: CarrierAccount | None
    pending: CarrierAccount | None
    version: int
    last_id: UUID | None

    @property
    def newest(self) -> CarrierAccount | None:
        """The account whose fields a form shows."""
        return self.pending or self.account


@dataclass(frozen=True, slots=True)
class RemovalEffects:
    """The effects of a removal: how many organizations call over the account, the account that they
    would use instead (None: the installation's), and the calls that prevent it."""

    organizations: int
    replacement: CarrierAccount | None
    calls: int


def of_organizations(
    session: Session, caller: Caller, *, cursor: str | None = None, limit: int = 50
) -> Page[CarrierAccount]:
    """Return a page of the accounts of the partner's organizations, newest first.

    Raises `Forbidden` and `ValidationFailed` (``invalid_cursor``).
    """
    rows = _manageable_query(caller).where(CarrierAccount.organization_id.is_not(None))
    return keyset_page(session, rows, _NEWEST, cursor=cursor, limit=limit)


def get(
    session: Session, caller: Caller, account_id: UUID, *, for_change: bool = False
) -> CarrierAccount:
    """Return an account. Raises `Forbidden` and `NotFound` (``carrier_account_not_found``)."""
    query = _manageable_query(caller).where(CarrierAccount.id == account_id)
    missing = NotFound(gettext("There is no such carrier account."), "carrier_account_not_found")
    return fetch(session, query, missing, for_change=for_change)


def current(session: Session, caller: Caller, organization_id: UUID | None) -> CurrentAccount:
    """Return the accounts of the organization itself, or of the partner if none is given."""
    query = _newest_of(_visible_query(caller), caller.partner_id, organization_id)
    return _current_account(session.scalars(query).all())


def save(
    session: Session,
    caller: Caller,
    keys: Sequence[str],
    fields: AccountFields,
    *,
    organization: Organization | None,
    may_be_private: bool = False,
    expected_version: int | None = None,
) -> CarrierAccount:
    """Store a pending account, which `activate` gives to the calls of its owner: the one in use
    stays until then. An empty secret keeps that of the same account. Without a change, the account
    in use is returned.

    Raises `Forbidden`, `ValidationFailed` (codes of `account_fields.check`), `Conflict`
    (``changed_meanwhile``) if the version isn't that of `current` any more.
    """
    caller.require(Permission.CREDENTIALS_MANAGE)
    partner_id = organization.partner_id if organization else caller.partner_id
    if partner_id is None:
        raise NotFound
    organization_id = organization.id if organization else None
    stored = _lock_accounts(session, partner_id, organization_id)
    check_version(expected_version, stored.version, "account")
    existing = next(
        (each for each in (stored.pending, stored.account) if each and fields.is_same_as(each)),
        None,
    )
    check(fields, may_be_empty=existing is not None, may_be_private=may_be_private)
    if stored.pending is not None and stored.pending is not existing:
        _discard(stored.pending)
        session.flush()
    trunk = asdict(fields.trunk) if fields.trunk else None
    if existing is not None and not fields.secret and trunk == existing.trunk:
        return existing
    if existing is not None and existing.is_pending:
        account = existing
    else:
        id_ = new_id()
        account = CarrierAccount(
            id=id_,
            partner_id=partner_id,
            organization_id=organization_id,
            owner_id=id_,
            carrier=fields.kind,
            sid=fields.sid,
            secret=existing.secret if existing else "",
            created_by=caller.label[:200],
            responsible_id=caller.user_id,
        )
        session.add(account)
    before = audit_values(stored.newest) if stored.newest else {}
    account.trunk, account.version = trunk, stored.version + 1
    if fields.secret or not account.secret:
        account.secret = seal(fields.secret, PURPOSE, keys)
    session.flush()
    after = audit_values(account) | {fields.secret_name: "changed" if fields.secret else None}
    audit.record_change(
        session, caller, "carrier_account.saved", account, before=before, after=after
    )
    if existing is None:
        name = organization.name if organization else None
        new_credential_mails.send(
            session, caller, account, "carrier_account.created", organization=name
        )
    return account


def activate(session: Session, caller: Caller, account_id: UUID) -> CarrierAccount:
    """Let live calls use a pending account from now on, and return the account that they use.

    New credentials move to the account in use, if they are for it; another account replaces it,
    and active calls keep that until their end. Raises `Forbidden` and `NotFound`; nothing happens
    to an account in use.
    """
    pending = get(session, caller, account_id)
    stored = _lock_accounts(session, pending.partner_id, pending.organization_id)
    account, previous = get(session, caller, account_id), stored.account
    if not account.is_pending:
        return account
    if previous is not None and same_in_use(session, account) is previous:
        previous.secret, previous.trunk = account.secret, account.trunk
        previous.version = account.version
        account.secret = ""
        _discard(account)
        account = previous
    else:
        if previous is not None:
            previous.removed_at = utcnow()
            session.flush()
        account.owner_id = account.organization_id or account.partner_id
    session.flush()
    audit.record_change(session, caller, "carrier_account.used", account)
    return account


def remove(session: Session, caller: Caller, account_id: UUID) -> CarrierAccount:
    """Remove the account; new calls use the next wider one. Raises `NotFound`, `Conflict`
    (``account_in_use``) while calls are waiting or active."""
    account = get(session, caller, account_id, for_change=True)
    is_pending = account.is_pending
    count = in_use(session, account.id)
    if count:
        message = ngettext(
            "The account can't be removed now: %(num)s call is waiting or in progress.",
            "The account can't be removed now: %(num)s calls are waiting or in progress.",
            count,
        )
        raise Conflict(message, "account_in_use")
    _discard(account)
    action = "carrier_account.discarded" if is_pending else "carrier_account.removed"
    audit.record_version(session, caller, action, account, before=audit_values(account))
    return account


def removal_effects(session: Session, caller: Caller, account: CarrierAccount) -> RemovalEffects:
    """Return the effects of removing the account now; it must come from `get`."""
    partner_account = None
    if account.organization_id is not None:
        partner_account = current(session, caller, None).account
    affected = count_organizations(session, account.partner_id, account.organization_id)
    return RemovalEffects(affected, partner_account, in_use(session, account.id))


def count_organizations(
    session: Session, partner_id: UUID | None, organization_id: UUID | None = None
) -> int:
    """Count the organizations that call over an account of this owner: the partner's without their
    own account, or the given one unless it is archived."""
    active = (
        Organization.partner_id == partner_id,
        Organization.status != OrganizationStatus.ARCHIVED,
    )
    if organization_id is not None:
        query = select(func.count()).where(*active, Organization.id == organization_id)
        return session.scalar(query) or 0
    # Few have their own account: those are counted and subtracted from the totals.
    total = select(func.sum(PartnerTier.organizations - PartnerTier.archived)).where(
        PartnerTier.partner_id == partner_id
    )
    owners = select(CarrierAccount.owner_id).where(
        CarrierAccount.partner_id == partner_id, CarrierAccount.removed_at.is_(None)
    )
    with_account = select(func.count()).where(*active, Organization.id.in_(owners))
    counts = select(total.scalar_subquery(), with_account.scalar_subquery())
    of_partner, with_own_account = session.execute(counts).one()
    return int(of_partner or 0) - int(with_own_account)


def in_use(session: Session, account_id: UUID) -> int:
    """Return how many calls wait for the account, or are active on it."""
    query = select(func.count()).where(
        Call.account_id == account_id, Call.status.not_in(FINAL_CALL_STATUSES)
    )
    return session.scalar(query) or 0


def _manageable_query(caller: Caller) -> Select[CarrierAccount]:
    return _visible_query(caller).where(CarrierAccount.removed_at.is_(None))


def _visible_query(caller: Caller) -> Select[CarrierAccount]:
    caller.require(Permission.CREDENTIALS_MANAGE)
    query = select(CarrierAccount)
    return of_tenant(query, caller, CarrierAccount.partner_id, CarrierAccount.organization_id)


def _newest_of(
    query: Select[CarrierAccount], partner_id: UUID | None, organization_id: UUID | None
) -> Select[CarrierAccount]:
    """Return the pending account and the one in use; those that were removed last come after."""
    order = CarrierAccount.removed_at.is_not(None), CarrierAccount.version.desc()
    if organization_id is not None:
        query = query.where(CarrierAccount.organization_id == organization_id)
    else:
        query = query.where(
            CarrierAccount.organization_id.is_(None), CarrierAccount.partner_id == partner_id
        )
    return query.order_by(*order).limit(2)


def _current_account(newest: Sequence[CarrierAccount]) -> CurrentAccount:
    active = [each for each in newest if each.removed_at is None]
    pending = next((each for each in active if each.is_pending), None)
    account = next((each for each in active if not each.is_pending), None)
    last = pending or account or next(iter(newest), None)
    version = max((each.version for each in newest), default=0)
    return CurrentAccount(account, pending, version, last.id if last else None)


def _lock_accounts(
    session: Session, partner_id: UUID, organization_id: UUID | None
) -> CurrentAccount:
    """Return the accounts, locked with their owner: of two that save a first one at once, one comes
    second."""
    lock_owner(session, partner_id, organization_id)
    query = _newest_of(select(CarrierAccount), partner_id, organization_id).with_for_update()
    return _current_account(session.scalars(query.execution_options(populate_existing=True)).all())


def _discard(account: CarrierAccount) -> None:
    account.removed_at = utcnow()
    account.owner_id = account.organization_id or account.partner_id
