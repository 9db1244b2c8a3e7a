"""List, set and remove accounts."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from uuid import UUID

from sqlalchemy import Select, exists, func, select
from sqlalchemy.orm import Session

from app.enums import FINAL_CALL_STATUSES, OrganizationStatus
from app.errors import Conflict, NotFound, refuse_stale
from app.languages import gettext, ngettext
from app.models import Call, CarrierAccount, Organization, Partner, new_id, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit
from app.services.carrier_accounts.account_fields import Particulars, check, facts_of
from app.services.carrier_accounts.key_rotation import PURPOSE
from app.services.credentials import new_credential_mails
from app.services.credentials.encryption import seal
from app.services.paging import Page, Sort, keyset_page
from app.services.tenancy import fetch, of_tenant

_NEWEST = Sort(CarrierAccount.created_at, descending=True)


@dataclass(frozen=True, slots=True)
class CurrentAccount:
    """The account in use, if there is one, and the version that fills a form. ``last_id`` is the
    account that was changed last, in use or not."""

    account: CarrierAccount | None
    version: int
    last_id: UUID | None


@dataclass(frozen=True, slots=True)
class Leaving:
    """The effects of a removal: how many organizations call over the account, the account that they
    would use instead (None: the installation's), and the calls that prevent it."""

    organizations: int
    instead: CarrierAccount | None
    calls: int


def of_organizations(
    session: Session, caller: Caller, *, cursor: str | None = None, limit: int = 50
) -> Page[CarrierAccount]:
    """Return a page of those of the partner's organizations, newest first.

    Raises `Forbidden` and `ValidationFailed` (``invalid_cursor``).
    """
    rows = _manageable(caller).where(CarrierAccount.organization_id.is_not(None))
    return keyset_page(session, rows, _NEWEST, cursor=cursor, limit=limit)


def get(
    session: Session, caller: Caller, account_id: UUID, *, for_change: bool = False
) -> CarrierAccount:
    """Raises `Forbidden` and `NotFound` (``carrier_account_not_found``)."""
    query = _manageable(caller).where(CarrierAccount.id == account_id)
    missing = NotFound(gettext("There is no such carrier account."), "carrier_account_not_found")
    return fetch(session, query, missing, for_change=for_change)


def current(session: Session, caller: Caller, organization_id: UUID | None) -> CurrentAccount:
    """Return the account of the organization itself, or of the partner if none is given."""
    owner_id = organization_id or caller.partner_id
    last = session.scalars(_newest_of(_own(caller), owner_id)).one_or_none()
    if last is None:
        return CurrentAccount(None, 0, None)
    return CurrentAccount(last if last.removed_at is None else None, last.version, last.id)


def save(
    session: Session,
    caller: Caller,
    keys: Sequence[str],
    wanted: Particulars,
    *,
    organization: Organization | None,
    may_be_private: bool = False,
    expected_version: int | None = None,
) -> CarrierAccount:
    """Set the account that calls use from now on. An empty secret keeps that of the same account;
    another account replaces the current one, which active calls keep until their end.

    Raises `Forbidden`, `ValidationFailed` (codes of `account_fields.check`), `Conflict`
    (``changed_meanwhile``) if the version isn't that of `current` any more.
    """
    caller.require(Permission.CREDENTIALS_MANAGE)
    partner_id = organization.partner_id if organization else caller.partner_id
    if partner_id is None:
        raise NotFound
    last = _held(session, partner_id, organization)
    version = last.version if last else 0
    refuse_stale(expected_version, version, "account")
    present = last if last is not None and last.removed_at is None else None
    before = facts_of(present) if present else {}
    account = present if present is not None and wanted.is_same_as(present) else None
    is_new = account is None
    check(wanted, may_be_empty=account is not None, may_be_private=may_be_private)
    if account is None:
        if present is not None:
            present.removed_at = utcnow()
            session.flush()
        account = CarrierAccount(
            id=new_id(),
            partner_id=partner_id,
            organization_id=organization.id if organization else None,
            owner_id=organization.id if organization else partner_id,
            carrier=wanted.kind,
            sid=wanted.sid,
            secret="",
            version=version,
            created_by=caller.label[:200],
            responsible_id=caller.user_id,
        )
        session.add(account)
    trunk = asdict(wanted.trunk) if wanted.trunk else None
    if wanted.secret or not account.secret:
        account.secret = seal(wanted.secret, PURPOSE, keys)
        account.version = version + 1
    if trunk != account.trunk:
        account.trunk, account.version = trunk, version + 1
    session.flush()
    after = facts_of(account) | {wanted.secret_name: "changed" if wanted.secret else None}
    audit.record_change(
        session, caller, "carrier_account.saved", account, before=before, after=after
    )
    if is_new:
        name = organization.name if organization else None
        new_credential_mails.send(
            session, caller, account, "carrier_account.created", organization=name
        )
    return account


def remove(session: Session, caller: Caller, account_id: UUID) -> CarrierAccount:
    """Remove the account; new calls use the next wider one. Raises `NotFound`, `Conflict`
    (``account_in_use``) while calls are waiting or active."""
    account = get(session, caller, account_id, for_change=True)
    count = in_use(session, account.id)
    if count:
        message = ngettext(
            "The account can't be removed now: %(num)s call is waiting or in progress.",
            "The account can't be removed now: %(num)s calls are waiting or in progress.",
            count,
        )
        raise Conflict(message, "account_in_use")
    account.removed_at = utcnow()
    audit.record_version(
        session, caller, "carrier_account.removed", account, before=facts_of(account)
    )
    return account


def leaving(session: Session, caller: Caller, account: CarrierAccount) -> Leaving:
    """Return the effects of removing the account, which must come from `get`, now."""
    above = None
    if account.organization_id is not None:
        above = current(session, caller, None).account
    has_own = exists().where(
        CarrierAccount.owner_id == Organization.id, CarrierAccount.removed_at.is_(None)
    )
    over_it = select(func.count()).where(
        Organization.partner_id == account.partner_id,
        Organization.status != OrganizationStatus.ARCHIVED,
        ~has_own if account.organization_id is None else Organization.id == account.organization_id,
    )
    return Leaving(session.scalar(over_it) or 0, above, in_use(session, account.id))


def in_use(session: Session, account_id: UUID) -> int:
    """Return how many calls wait for the account, or are active on it."""
    query = select(func.count()).where(
        Call.account_id == account_id, Call.status.not_in(FINAL_CALL_STATUSES)
    )
    return session.scalar(query) or 0


def _manageable(caller: Caller) -> Select[CarrierAccount]:
    return _own(caller).where(CarrierAccount.removed_at.is_(None))


def _own(caller: Caller) -> Select[CarrierAccount]:
    caller.require(Permission.CREDENTIALS_MANAGE)
    query = select(CarrierAccount)
    return of_tenant(query, caller, CarrierAccount.partner_id, CarrierAccount.organization_id)


def _newest_of(query: Select[CarrierAccount], owner_id: UUID | None) -> Select[CarrierAccount]:
    """Return the account in use, otherwise the one that was removed last."""
    order = CarrierAccount.removed_at.is_not(None), CarrierAccount.version.desc()
    return query.where(CarrierAccount.owner_id == owner_id).order_by(*order).limit(1)


def _held(
    session: Session, partner_id: UUID, organization: Organization | None
) -> CarrierAccount | None:
    """Return the newest account, locked with its owner: of two that save a first one at once, one
    comes second."""
    owner = Organization if organization else Partner
    owner_id = organization.id if organization else partner_id
    locked = select(owner.id).where(owner.id == owner_id)
    session.execute(locked.with_for_update(key_share=True))
    query = _newest_of(select(CarrierAccount), owner_id).with_for_update()
    return session.scalars(query.execution_options(populate_existing=True)).one_or_none()
