"""The owner of the number that calls come from, and whether it may be used on a carrier."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Select, delete, select, tuple_
from sqlalchemy.orm import Session, aliased

from app.enums import CarrierKind, NumberSource
from app.errors import ValidationFailed, translate_stored
from app.languages import gettext, gettext_noop
from app.models import Assistant, CarrierAccount, Organization, PhoneNumber
from app.policy.caller import Caller
from app.services import carrier_accounts
from app.services.uniqueness import insert_into

FIELD = "phoneNumber"
NOT_ASSIGNED = gettext_noop(
    "This number isn't assigned to the organization. Use one of its numbers, or ask the platform "
    "operator to assign this one."
)
BATCH_SIZE = 1000
"""Maximum numbers per statement, whose parameters are limited."""


@dataclass(frozen=True, slots=True)
class NumberRoute:
    """The route of a call: the carrier, and the carrier account; None for the installation's."""

    carrier: CarrierKind
    account_id: UUID | None = None


def route_of(session: Session, organization: Organization, carrier: CarrierKind) -> NumberRoute:
    """Return the route of the organization's live calls; ``carrier`` is the installation's."""
    account = carrier_accounts.effective(session, organization.partner_id, organization.id)
    return _route_over(account, carrier)


def refusal(number: PhoneNumber | None, route: NumberRoute) -> str | None:
    """Return why a call can't come from an assistant's number, as a sentence; None if it can.
    ``number`` is None if the number doesn't belong to the assistant's organization."""
    if number is None:
        return gettext("The assistant's number isn't assigned to its organization.")
    if route.carrier is CarrierKind.SIMULATOR:
        return None
    return _unconfirmed_message(number, route)


def _unconfirmed_message(number: PhoneNumber, route: NumberRoute) -> str | None:
    """Return why the number isn't confirmed for calls over a real carrier, as a sentence."""
    if number.confirmed_at is None:
        if number.source is NumberSource.SIMULATED:
            return gettext(
                "The assistant's number isn't confirmed: it was only used on the simulated carrier."
            )
        return gettext(
            "The assistant's number isn't confirmed: the carrier account no longer lists it."
        )
    if number.source is NumberSource.CARRIER_LIST and number.account_id != route.account_id:
        return gettext(
            "The assistant's number isn't confirmed: it is listed by another carrier account than "
            "the one that calls use."
        )
    if number.source is NumberSource.VERIFICATION_CALL and route.account_id is None:
        return gettext(
            "The assistant's number isn't confirmed: a verification call counts only for calls "
            "over a carrier account."
        )
    return None


def require(
    session: Session, caller: Caller, organization: Organization, number: str, carrier: CarrierKind
) -> None:
    """Check that an assistant of the organization, which must come from its loader, may call from
    the number. ``carrier`` is the installation's.

    A number of the partner that no organization has is assigned to this one, and so is a free
    number if the organization calls over the simulated carrier. Raises `ValidationFailed`
    (``number_not_assigned``), with the same message for a free number and for another tenant's.
    """
    route = route_of(session, organization, carrier)
    if route.carrier is CarrierKind.SIMULATOR:
        _assign_if_free(session, caller, organization, number)
    phone_number = lock_number(session, number)
    is_own = phone_number is not None and phone_number.partner_id == organization.partner_id
    if phone_number is not None and is_own and phone_number.organization_id is None:
        phone_number.organization_id = organization.id
        phone_number.version += 1
        session.flush()
    if (
        phone_number is None
        or phone_number.organization_id != organization.id
        or refusal(phone_number, route)
    ):
        raise ValidationFailed.on(FIELD, "number_not_assigned", translate_stored(NOT_ASSIGNED))


def release_unused(session: Session, organization_id: UUID, number: str) -> None:
    """Release a number that was only used on the simulated carrier, once no assistant has it."""
    used = select(Assistant.id).where(
        Assistant.organization_id == organization_id, Assistant.phone_number == number
    )
    session.execute(
        delete(PhoneNumber).where(
            PhoneNumber.number == number,
            PhoneNumber.organization_id == organization_id,
            PhoneNumber.source == NumberSource.SIMULATED,
            ~used.exists(),
        )
    )


def refusals(
    session: Session, assistants: Collection[Assistant], carrier: CarrierKind
) -> dict[UUID, str]:
    """Return, by assistant, why live calls can't come from its number (`refusal`): one query, more
    beyond `BATCH_SIZE`. Assistants that can call, or have no number, are left out. ``carrier`` is
    the installation's."""
    numbered = [each.id for each in assistants if each.phone_number]
    reasons = {}
    for start in range(0, len(numbered), BATCH_SIZE):
        rows = _with_numbers_and_accounts(numbered[start : start + BATCH_SIZE])
        for assistant_id, number, own_account, partner_account in session.execute(rows):
            if why := refusal(number, _route_over(own_account or partner_account, carrier)):
                reasons[assistant_id] = why
    return reasons


def _with_numbers_and_accounts(
    assistant_ids: Collection[UUID],
) -> Select[UUID, PhoneNumber | None, CarrierAccount | None, CarrierAccount | None]:
    """Return the query of the ids of assistants with their numbers, if these belong to their
    organizations, and the accounts in use of their organizations and partners."""
    own, of_partner = aliased(CarrierAccount), aliased(CarrierAccount)
    return (
        select(Assistant.id, PhoneNumber, own, of_partner)
        .outerjoin(
            PhoneNumber,
            (PhoneNumber.number == Assistant.phone_number)
            & (PhoneNumber.organization_id == Assistant.organization_id),
        )
        .outerjoin(own, (own.owner_id == Assistant.organization_id) & own.removed_at.is_(None))
        .outerjoin(
            of_partner,
            (of_partner.owner_id == Assistant.partner_id) & of_partner.removed_at.is_(None),
        )
        .where(Assistant.id.in_(assistant_ids))
    )


def _route_over(account: CarrierAccount | None, carrier: CarrierKind) -> NumberRoute:
    """Return the route of calls over the account; without one, over the installation's carrier."""
    return NumberRoute(account.carrier, account.id) if account else NumberRoute(carrier)


def refusals_of_numbers(
    session: Session, numbers: Collection[PhoneNumber], carrier: CarrierKind
) -> dict[str, str]:
    """Return, by number, why live calls of its organization can't come from it (`refusal`); numbers
    that can be used, or have no organization, are left out. ``carrier`` is the installation's."""
    used = {each: each.organization_id for each in numbers if each.organization_id}
    owners = {*used.values(), *(each.partner_id for each in used)}
    accounts = carrier_accounts.of_owners(session, owners)
    reasons = {}
    for each, organization_id in used.items():
        account = accounts.get(organization_id) or accounts.get(each.partner_id)
        if why := refusal(each, _route_over(account, carrier)):
            reasons[each.number] = why
    return reasons


def _numbers_of(
    session: Session, assistants: Collection[Assistant]
) -> dict[tuple[UUID | None, str], PhoneNumber]:
    """Return the numbers of the assistants that belong to their organization, by both."""
    pairs = [(each.organization_id, each.phone_number) for each in assistants if each.phone_number]
    pair = tuple_(PhoneNumber.organization_id, PhoneNumber.number)
    return {
        (row.organization_id, row.number): row
        for start in range(0, len(pairs), BATCH_SIZE)
        for row in session.scalars(
            select(PhoneNumber).where(pair.in_(pairs[start : start + BATCH_SIZE]))
        )
    }


def not_callable_over(
    session: Session, account: CarrierAccount, carrier: CarrierKind
) -> list[Assistant]:
    """Return the active assistants that can call now, but couldn't if live calls used the pending
    account, by name. ``carrier`` is the installation's."""
    if carrier_accounts.same_in_use(session, account) is not None:
        return []
    query = select(Assistant).where(
        *carrier_accounts.calling_over(account),
        Assistant.phone_number.is_not(None),
        Assistant.active.is_(True),
    )
    query = query.order_by(Assistant.name, Assistant.id).execution_options(yield_per=BATCH_SIZE)
    route, lost = NumberRoute(account.carrier, account.id), list[Assistant]()
    for chunk in session.scalars(query).partitions():
        refused = refusals(session, chunk, carrier)
        numbers = _numbers_of(session, chunk)
        lost += [
            each
            for each in chunk
            if each.id not in refused
            and refusal(numbers.get((each.organization_id, str(each.phone_number))), route)
        ]
    return lost


def _assign_if_free(
    session: Session, caller: Caller, organization: Organization, number: str
) -> None:
    """Assign a free number; of concurrent requests only one gets it."""
    row = insert_into(session, PhoneNumber).values(
        number=number,
        partner_id=organization.partner_id,
        organization_id=organization.id,
        source=NumberSource.SIMULATED,
        confirmed_by=caller.label[:200],
    )
    session.execute(row.on_conflict_do_nothing())


def lock_number(session: Session, number: str) -> PhoneNumber | None:
    return session.get(PhoneNumber, number, with_for_update=True, populate_existing=True)
