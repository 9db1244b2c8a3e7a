"""Lists of numbers, and the assistants that call from them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Select, and_, select
from sqlalchemy.orm import Session, aliased

from app.enums import NumberSource
from app.errors import Forbidden, NotFound, ValidationFailed
from app.languages import gettext
from app.models import Assistant, Organization, Partner, PhoneNumber
from app.phone import is_plain_e164
from app.policy import Permission
from app.policy.caller import Caller
from app.services.paging import Page
from app.services.tenancy import fetch, of_tenant

MAX_UNUSED = 100
"""Maximum numbers that are offered for an assistant."""


@dataclass(frozen=True, slots=True)
class ConflictingAssistant:
    """An assistant with a number that isn't its organization's: its calls are refused. ``owner`` is
    the organization that has the number; None if no organization has it."""

    number: str | None
    assistant: Assistant
    organization: str
    partner: str
    owner: str | None


@dataclass(frozen=True, slots=True)
class ListedNumber:
    """A number with the name of its partner, and the organization that has it."""

    number: PhoneNumber
    partner: str
    owner: Organization | None

    @property
    def organization(self) -> str | None:
        """The name of the organization."""
        return self.owner.name if self.owner else None


def visible(caller: Caller) -> Select[PhoneNumber]:
    query = select(PhoneNumber)
    return of_tenant(query, caller, PhoneNumber.partner_id, PhoneNumber.organization_id)


def get(session: Session, caller: Caller, number: str, *, for_change: bool = False) -> PhoneNumber:
    """Return a number. Raises `Forbidden` and `NotFound` (``phone_number_not_found``)."""
    caller.require(Permission.ORGANIZATIONS_READ)
    missing = NotFound(gettext("There is no such phone number."), "phone_number_not_found")
    if not is_plain_e164(number):
        raise missing
    query = visible(caller).where(PhoneNumber.number == number)
    return fetch(session, query, missing, for_change=for_change)


def can_be_verified(session: Session, organization_id: UUID, number: str) -> bool:
    """Whether a verification call can confirm the number for more calls than it is confirmed for.
    Another organization's number is answered like a free one."""
    phone_number = session.get(PhoneNumber, number)
    return (
        phone_number is None
        or phone_number.organization_id != organization_id
        or phone_number.confirmed_at is None
        or phone_number.source is NumberSource.CARRIER_LIST
    )


def is_confirmed(session: Session, number: str | None) -> bool:
    """Whether the operator, a carrier account or a verification call confirms the number."""
    phone_number = session.get(PhoneNumber, number) if number else None
    return phone_number is not None and phone_number.confirmed_at is not None


def listing(
    session: Session,
    caller: Caller,
    *,
    organization_id: UUID | None = None,
    query: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[ListedNumber]:
    """Return a page of the numbers, sorted; ``query`` searches its digits. ``cursor`` is the last
    number of the previous page. Raises `Forbidden` and `ValidationFailed` (``invalid_cursor``)."""
    caller.require(Permission.ORGANIZATIONS_READ)
    rows = visible(caller)
    if organization_id is not None:
        rows = rows.where(PhoneNumber.organization_id == organization_id)
    if digits := "".join(character for character in query or "" if character.isdecimal()):
        rows = rows.where(PhoneNumber.number.contains(digits))
    if cursor:
        if not is_plain_e164(cursor):
            message = gettext("This position in the list is not valid. Start from the first page.")
            raise ValidationFailed.on("cursor", "invalid_cursor", message)
        rows = rows.where(PhoneNumber.number > cursor)
    with_owners = (
        rows.join(Partner, Partner.id == PhoneNumber.partner_id)
        .outerjoin(Organization, Organization.id == PhoneNumber.organization_id)
        .add_columns(Partner.name, Organization)
    )
    matches = session.execute(with_owners.order_by(PhoneNumber.number).limit(limit + 1)).all()
    items = [ListedNumber(*row) for row in matches[:limit]]
    return Page(items, items[-1].number.number if len(matches) > limit else None)


def unused_by_assistants(session: Session, organization_id: UUID) -> list[str]:
    """Return `MAX_UNUSED` numbers of an organization, which must come from its loader, that none
    of its assistants has."""
    used = select(Assistant.phone_number).where(
        Assistant.organization_id == organization_id, Assistant.phone_number.is_not(None)
    )
    query = select(PhoneNumber.number).where(
        PhoneNumber.organization_id == organization_id, PhoneNumber.number.not_in(used)
    )
    return list(session.scalars(query.order_by(PhoneNumber.number).limit(MAX_UNUSED)))


def assistants_with(
    session: Session, caller: Caller, numbers: Collection[PhoneNumber]
) -> dict[str, list[Assistant]]:
    """Return the assistants of each number's own organization that have it."""
    query = (
        of_tenant(select(Assistant), caller, Assistant.partner_id, Assistant.organization_id)
        .join(
            PhoneNumber,
            and_(
                PhoneNumber.number == Assistant.phone_number,
                PhoneNumber.organization_id == Assistant.organization_id,
            ),
        )
        .where(PhoneNumber.number.in_([each.number for each in numbers]))
    )
    by_number: dict[str, list[Assistant]] = {}
    for assistant in session.scalars(query.order_by(Assistant.name, Assistant.id)):
        by_number.setdefault(assistant.phone_number or "", []).append(assistant)
    return by_number


def conflicts(session: Session, caller: Caller) -> Sequence[ConflictingAssistant]:
    """Return every assistant with a number that isn't its organization's, by number. For the
    operator.

    Raises `Forbidden`.
    """
    if not caller.is_operator:
        message = gettext("Only the platform operator sees conflicts between organizations.")
        raise Forbidden(message, "insufficient_scope")
    owner = aliased(Organization)
    query = (
        select(Assistant.phone_number, Assistant, Organization.name, Partner.name, owner.name)
        .join(Organization, Organization.id == Assistant.organization_id)
        .join(Partner, Partner.id == Assistant.partner_id)
        .outerjoin(PhoneNumber, PhoneNumber.number == Assistant.phone_number)
        .outerjoin(owner, owner.id == PhoneNumber.organization_id)
        .where(
            Assistant.phone_number.is_not(None),
            PhoneNumber.organization_id.is_distinct_from(Assistant.organization_id),
        )
        .order_by(Assistant.phone_number, Assistant.created_at, Assistant.id)
    )
    return [ConflictingAssistant(*row) for row in session.execute(query)]
