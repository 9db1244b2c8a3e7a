"""Accounts with a carrier: live calls of an organization go out over its own, else over its
partner's, else over the installation's."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from app.caller import Caller
from app.enums import FINAL_CALL_STATUSES, CarrierKind
from app.errors import Conflict, NotFound, ValidationFailed
from app.models import Agent, Call, CallAttempt, CarrierAccount, Organization, new_id, utcnow
from app.policy import Permission
from app.services import audit
from app.services.sealing import SealBroken, seal, unseal

PURPOSE = "carrier-account"
NUMBERS_CHECKED = 10
KEPT_SECRET = timedelta(days=1)
"""A removed account's token is kept so long, and as long as a call is on the line."""
_SID = re.compile(r"AC[0-9a-f]{32}")
_TOKEN = re.compile(r"[!-~]{1,200}")


@dataclass(frozen=True, slots=True)
class Credentials:
    """What opens an account; ``version`` changes with the token."""

    account_id: UUID
    sid: str
    token: str
    version: int


def listing(session: Session, caller: Caller, limit: int) -> Sequence[CarrierAccount]:
    """The partner's own first, then those of its organizations, the newest first."""
    order = CarrierAccount.organization_id.is_not(None), CarrierAccount.created_at.desc()
    return session.scalars(_manageable(caller).order_by(*order).limit(limit)).all()


def get(
    session: Session, caller: Caller, account_id: UUID, *, for_change: bool = False
) -> CarrierAccount:
    """Raises `Forbidden` and `NotFound` (``carrier_account_not_found``)."""
    query = _manageable(caller).where(CarrierAccount.id == account_id)
    if for_change:
        query = query.with_for_update().execution_options(populate_existing=True)
    found = session.scalars(query).one_or_none()
    if found is None:
        message = "There is no such carrier account."
        raise NotFound(message, "carrier_account_not_found")
    return found


def of_owner(
    session: Session, caller: Caller, organization_id: UUID | None
) -> CarrierAccount | None:
    """The account of the organization itself, or of the partner where none is named."""
    owner = organization_id or caller.partner_id
    return session.scalars(
        _manageable(caller).where(CarrierAccount.owner_id == owner)
    ).one_or_none()


def save(
    session: Session,
    caller: Caller,
    keys: Sequence[str],
    *,
    organization: Organization | None,
    sid: str,
    token: str,
) -> CarrierAccount:
    """The account that calls go out over from now on. An empty ``token`` leaves that of the same
    account as it is; another account takes the place of the present one, with which calls under
    way are followed to their end.

    Raises `Forbidden`, `ValidationFailed` (``invalid_sid``, ``invalid_token``).
    """
    caller.require(Permission.CREDENTIALS_MANAGE)
    partner_id = organization.partner_id if organization else caller.partner_id
    if partner_id is None:
        raise NotFound
    owner_id = organization.id if organization else partner_id
    in_use = CarrierAccount.removed_at.is_(None)
    query = select(CarrierAccount).where(CarrierAccount.owner_id == owner_id, in_use)
    present = session.scalars(query.with_for_update()).one_or_none()
    is_same = present is not None and present.sid == sid
    _check(sid, token, may_be_empty=is_same)
    if present is not None and is_same:
        if token:
            present.secret, present.version = seal(token, PURPOSE, keys), present.version + 1
        account = present
    else:
        if present is not None:
            present.removed_at = utcnow()
            session.flush()
        account = CarrierAccount(
            id=new_id(),
            partner_id=partner_id,
            organization_id=organization.id if organization else None,
            owner_id=owner_id,
            carrier=CarrierKind.TWILIO,
            sid=sid,
            secret=seal(token, PURPOSE, keys),
            version=1,
            created_by=caller.label[:200],
        )
        session.add(account)
    session.flush()
    before = {"sid": present.sid} if present else {}
    after = {"sid": sid, "token": "changed" if token else None}
    _record(session, caller, account, "saved", before, after)
    return account


def remove(session: Session, caller: Caller, account_id: UUID) -> CarrierAccount:
    """New calls go out over the next wider account. Raises `NotFound`, `Conflict`
    (``account_in_use``) while calls wait for it or are on the line."""
    account = get(session, caller, account_id, for_change=True)
    count = in_use(session, account.id)
    if count:
        waits = "1 call waits for it or is" if count == 1 else f"{count} calls wait for it or are"
        message = f"The account can't be removed now: {waits} on the line."
        raise Conflict(message, "account_in_use")
    account.removed_at = utcnow()
    session.flush()
    _record(session, caller, account, "removed", {"sid": account.sid}, {})
    return account


def in_use(session: Session, account_id: UUID) -> int:
    """How many calls wait to go out over the account, or are on the line."""
    query = select(func.count()).where(
        Call.account_id == account_id, Call.status.not_in(FINAL_CALL_STATUSES)
    )
    return session.scalar(query) or 0


def effective(session: Session, partner_id: UUID, organization_id: UUID) -> CarrierAccount | None:
    """The account that a live call of the organization goes out over; None for the
    installation's."""
    query = select(CarrierAccount).where(
        CarrierAccount.owner_id.in_((partner_id, organization_id)),
        CarrierAccount.removed_at.is_(None),
    )
    found = {account.owner_id: account for account in session.scalars(query)}
    return found.get(organization_id) or found.get(partner_id)


def of_call(session: Session, agent: Agent, *, live: bool) -> CarrierAccount | None:
    """The account that a new call of the assistant goes out over; none with a test key."""
    return effective(session, agent.partner_id, agent.organization_id) if live else None


def choose_again(session: Session, call: Call) -> UUID | None:
    """At the moment of dialling: the account of the call, or the one that took its place."""
    if call.account_id is None:
        return None
    known = session.get(CarrierAccount, call.account_id)
    if known is None or known.removed_at is not None:
        current = effective(session, call.partner_id, call.organization_id)
        call.account_id = current.id if current else None
    return call.account_id


def credentials(session: Session, keys: Sequence[str], account_id: UUID) -> Credentials | None:
    """What opens the account, also where it was removed; None where that is no longer known."""
    account = session.get(CarrierAccount, account_id, populate_existing=True)
    if account is None:
        return None
    try:
        token = unseal(account.secret, PURPOSE, keys).text
    except SealBroken:
        return None
    return Credentials(account.id, account.sid, token, account.version)


def of_attempt(session: Session, keys: Sequence[str], attempt_id: UUID) -> Credentials | None:
    """What opens the account that the attempt went out over; None for the installation's."""
    account_id = session.scalar(select(CallAttempt.account_id).where(CallAttempt.id == attempt_id))
    return credentials(session, keys, account_id) if account_id is not None else None


def numbers_of(session: Session, account: CarrierAccount) -> list[str]:
    """Numbers of assistants that call over the account; some, where there are many."""
    query = select(Agent.phone_number).where(Agent.phone_number.is_not(None)).distinct()
    if account.organization_id is not None:
        query = query.where(Agent.organization_id == account.organization_id)
    else:
        own = select(CarrierAccount.organization_id).where(
            CarrierAccount.organization_id.is_not(None), CarrierAccount.removed_at.is_(None)
        )
        query = query.where(
            Agent.partner_id == account.partner_id, Agent.organization_id.not_in(own)
        )
    query = query.order_by(Agent.phone_number).limit(NUMBERS_CHECKED)
    return [number for number in session.scalars(query) if number]


def tidy(session: Session, keys: Sequence[str]) -> None:
    """Encrypts anew what the key before encrypted, and forgets the tokens of removed accounts
    that no call on the line needs."""
    for account in session.scalars(select(CarrierAccount).where(CarrierAccount.secret != "")):
        busy = select(CallAttempt.id).where(
            CallAttempt.account_id == account.id, CallAttempt.status.not_in(FINAL_CALL_STATUSES)
        )
        removed = account.removed_at
        if removed and removed < utcnow() - KEPT_SECRET and not session.scalar(busy.limit(1)):
            account.secret = ""
            continue
        try:
            opened = unseal(account.secret, PURPOSE, keys)
        except SealBroken:
            continue
        if not opened.is_current:
            account.secret = seal(opened.text, PURPOSE, keys)


def _manageable(caller: Caller) -> Select[CarrierAccount]:
    caller.require(Permission.CREDENTIALS_MANAGE)
    query = select(CarrierAccount).where(CarrierAccount.removed_at.is_(None))
    if caller.partner_id is not None:
        query = query.where(CarrierAccount.partner_id == caller.partner_id)
    return query


def _check(sid: str, token: str, *, may_be_empty: bool) -> None:
    if not _SID.fullmatch(sid):
        message = "An account's SID is AC and 32 characters from 0 to 9 and a to f."
        raise ValidationFailed.on("sid", "invalid_sid", message)
    if not _TOKEN.fullmatch(token) and not (may_be_empty and not token):
        message = "Type the account's token as the console shows it."
        raise ValidationFailed.on("token", "invalid_token", message)


def _record(
    session: Session,
    caller: Caller,
    account: CarrierAccount,
    verb: str,
    before: dict[str, str],
    after: dict[str, str | None],
) -> None:
    audit.record(
        session,
        caller,
        action=f"carrier_account.{verb}",
        target_type="carrier_account",
        target_id=account.id,
        partner_id=account.partner_id,
        organization_id=account.organization_id,
        target=account.sid,
        before=before,
        after=after,
    )
