"""The numbers of a carrier account: read by the worker, daily and on request."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from app.enums import CarrierKind, NumberSource
from app.errors import Sentence
from app.gateways.carriers.partner_accounts import AccountCredentials, ListedNumbers
from app.gateways.job_queue import enqueue_check
from app.models import CarrierAccount, CarrierNumberList, MailKind, PhoneNumber, new_id, utcnow
from app.phone import format_international
from app.policy.caller import Caller, system_caller
from app.services import audit, carrier_accounts, mail_queue
from app.services.uniqueness import insert_into

EVERY = timedelta(days=1)
DUE_BATCH = 20
MAX_IN_MAIL = 10
WORKER = system_caller("Carrier's list")
_CONFIRMED = Sentence.ngettext("%(num)s number is confirmed.", "%(num)s numbers are confirmed.")
_NOT_AVAILABLE = Sentence.ngettext(
    "%(confirmed_words)s %(num)s number is not available here. Ask the platform operator.",
    "%(confirmed_words)s %(num)s numbers are not available here. Ask the platform operator.",
)


@dataclass(frozen=True, slots=True)
class NumberReading:
    """The data of a reading. ``credentials`` is None if the stored secret can't be read."""

    credentials: AccountCredentials | None


def request_reading(session: Session, caller: Caller, account_id: UUID) -> CarrierAccount:
    """Queue a reading of the account's numbers, unless one is running. Does nothing for a SIP
    trunk, which has no list. Raises `Forbidden` and `NotFound`."""
    account = carrier_accounts.get(session, caller, account_id, for_change=True)
    if account.carrier is CarrierKind.TWILIO:
        _enqueue_reading(session, account)
    return account


def refresh_due(session: Session) -> int:
    """Queue the readings that are due, a day after the last one, and end the confirmations by
    accounts that were removed. Return how many are queued, at most `DUE_BATCH`."""
    removed = select(CarrierAccount).join(PhoneNumber, PhoneNumber.account_id == CarrierAccount.id)
    removed = removed.where(
        CarrierAccount.removed_at.is_not(None), PhoneNumber.confirmed_at.is_not(None)
    )
    for account in session.scalars(removed.distinct()).all():
        _end_confirmations(session, account, ())
    number_list = CarrierNumberList
    query = (
        select(CarrierAccount)
        .outerjoin(number_list, number_list.account_id == CarrierAccount.id)
        .where(
            CarrierAccount.removed_at.is_(None),
            ~CarrierAccount.is_pending,
            CarrierAccount.carrier == CarrierKind.TWILIO,
            or_(number_list.requested_at.is_(None), number_list.requested_at < utcnow() - EVERY),
        )
        .order_by(CarrierAccount.id)
        .limit(DUE_BATCH)
        .with_for_update(of=CarrierAccount, skip_locked=True)
    )
    accounts = session.scalars(query).all()
    for account in accounts:
        _enqueue_reading(session, account)
    return len(accounts)


def store_unrequested(session: Session, account: CarrierAccount, listed: ListedNumbers) -> None:
    """For the worker: as `store_reading`, for a list that no user asked for."""
    carrier_accounts.restart(session, CarrierNumberList, account.id)
    store_reading(session, account.id, listed)


def _enqueue_reading(session: Session, account: CarrierAccount) -> None:
    number_list = session.get(CarrierNumberList, account.id, populate_existing=True)
    if carrier_accounts.is_running(number_list):
        return
    carrier_accounts.restart(session, CarrierNumberList, account.id)
    enqueue_check(session, "read_carrier_numbers", new_id(), account.partner_id, str(account.id))


def reading_data(session: Session, keys: Sequence[str], account_id: UUID) -> NumberReading | None:
    """For the worker: return the data of a reading; None if none of the account waits."""
    number_list = session.get(CarrierNumberList, account_id)
    account = session.get(CarrierAccount, account_id)
    if (
        number_list is None
        or number_list.checked_at is not None
        or account is None
        or account.removed_at
    ):
        return None
    return NumberReading(carrier_accounts.credentials(session, keys, account_id))


def store_reading(session: Session, account_id: UUID, listed: ListedNumbers) -> None:
    """For the worker: confirm the listed numbers for the account's owner, and end the confirmation
    of those that are no longer listed: the partner's admins get a mail about them. Numbers that are
    confirmed for others are left alone."""
    number_list = session.get(CarrierNumberList, account_id)
    account = session.get(CarrierAccount, account_id)
    if number_list is None or number_list.checked_at is not None or account is None:
        return
    number_list.end(listed.works, listed.message)
    if not listed.works:
        return
    confirmed = [number for number in sorted(listed.numbers) if _confirm(session, account, number)]
    if ended := _end_confirmations(session, account, confirmed):
        _mail_admins(session, account, ended)
    unavailable = len(listed.numbers) - len(confirmed)
    number_list.message = _CONFIRMED(num=len(confirmed))
    if unavailable:
        number_list.message = _NOT_AVAILABLE(confirmed_words=number_list.message, num=unavailable)


def _confirm(session: Session, account: CarrierAccount, number: str) -> bool:
    """Return whether the number is the owner's now. An unconfirmed number is replaced; one that was
    confirmed in another way keeps its confirmation."""
    proof: dict[str, Any] = {
        "source": NumberSource.CARRIER_LIST,
        "confirmed_at": utcnow(),
        "confirmed_by": account.name[:200],
        "account_id": account.id,
    }
    owner = {"partner_id": account.partner_id, "organization_id": account.organization_id}
    new = (
        insert_into(session, PhoneNumber)
        .values(number=number, **owner, **proof)
        .on_conflict_do_nothing()
    )
    if session.scalar(new.returning(PhoneNumber.number)) is not None:
        _record(session, account, number, "phone_number.confirmed")
        return True
    phone_number = session.get_one(
        PhoneNumber, number, with_for_update=True, populate_existing=True
    )
    is_own = phone_number.partner_id == account.partner_id and (
        account.organization_id is None
        or phone_number.organization_id in {account.organization_id, None}
    )
    if phone_number.confirmed_at is None:
        if not is_own:
            _record(session, phone_number, number, "phone_number.released")
            phone_number.partner_id = account.partner_id
            phone_number.organization_id = account.organization_id
        _record(session, account, number, "phone_number.confirmed")
    elif not is_own:
        return False
    elif phone_number.source is not NumberSource.CARRIER_LIST or _has_own_account(
        session, phone_number, account
    ):
        return True
    for name, value in proof.items():
        setattr(phone_number, name, value)
    if phone_number.organization_id is None:
        phone_number.organization_id = account.organization_id
    session.flush()
    return True


def _has_own_account(session: Session, number: PhoneNumber, account: CarrierAccount) -> bool:
    """Return whether an organization's own account, which its calls use, lists the number, and the
    account is its partner's."""
    if number.account_id is None or account.organization_id is not None:
        return False
    current = session.get(CarrierAccount, number.account_id)
    return (
        current is not None and current.removed_at is None and current.organization_id is not None
    )


def _end_confirmations(
    session: Session, account: CarrierAccount, confirmed: Collection[str]
) -> list[str]:
    """Return the numbers whose confirmation has ended."""
    query = select(PhoneNumber).where(
        PhoneNumber.account_id == account.id,
        PhoneNumber.source == NumberSource.CARRIER_LIST,
        PhoneNumber.confirmed_at.is_not(None),
    )
    phone_numbers = session.scalars(query.order_by(PhoneNumber.number).with_for_update()).all()
    ended = [number for number in phone_numbers if number.number not in confirmed]
    for number in ended:
        number.confirmed_at = None
        number.version += 1
        _record(session, number, number.number, "phone_number.confirmation_ended")
    session.flush()
    return [number.number for number in ended]


def _mail_admins(session: Session, account: CarrierAccount, numbers: Sequence[str]) -> None:
    formatted = [format_international(number) for number in numbers[:MAX_IN_MAIL]]
    details = {"account": account.name, "numbers": formatted, "count": len(numbers)}
    mail_queue.enqueue_to_administrators(
        session, MailKind.NUMBERS_UNCONFIRMED, account.partner_id, details=details
    )


def _record(
    session: Session, owner: CarrierAccount | PhoneNumber, number: str, action: str
) -> None:
    audit.record(
        session,
        WORKER,
        action=action,
        target_type="phone_number",
        target_id=number,
        partner_id=owner.partner_id,
        organization_id=owner.organization_id,
        target=number,
    )
