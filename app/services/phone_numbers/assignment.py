"""Assigning, moving, confirming and releasing numbers.

Every change applies from the next call on, including accepted calls.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import NumberSource
from app.errors import (
    Problem,
    ValidationFailed,
    check_version,
    raise_problems,
    translate_stored,
)
from app.languages import gettext
from app.languages.numbers import localize_number
from app.models import Organization, PhoneNumber, utcnow
from app.phone import PhoneError, format_international, normalise_written
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, tenancy
from app.services.phone_numbers.owning import FIELD, NOT_ASSIGNED, lock_number
from app.services.phone_numbers.queries import get
from app.services.uniqueness import insert_into

MAX_NUMBERS = 1000
MAX_PROBLEMS = 20
"""Maximum problems that are reported at once."""


def assign(
    session: Session, caller: Caller, organization_id: UUID, texts: Sequence[str]
) -> list[str]:
    """Assign numbers to an organization, all or none; return them in E.164. For the operator.

    Raises `Forbidden`, `NotFound`, `Conflict` (``archived``) and `ValidationFailed` (on
    ``numbers``: ``required``, ``too_many``, ``invalid_phone``, ``number_taken`` of another
    organization's number).
    """
    _require_operator(caller)
    organization = tenancy.get_organization(session, caller, organization_id)
    tenancy.refuse_archived(organization)
    numbers, problems = _parse_numbers(texts, organization.default_region)
    for number in numbers:
        if not assign_confirmed(session, caller, number, organization, NumberSource.ASSIGNED):
            formatted = format_international(number)
            message = gettext(
                "%(number)s belongs to another organization. Move it in the list of numbers.",
                number=formatted,
            )
            problems.append(Problem("numbers", "number_taken", message))
    raise_problems(problems[:MAX_PROBLEMS])
    return numbers


def confirm(session: Session, caller: Caller, organization_id: UUID, number: str) -> None:
    """Write that the organization has proved by a call that the number, in E.164, is its own.

    It replaces another tenant's use on the simulated carrier, for which the transaction must be of
    the whole installation; no other tenant can use the number afterwards. Raises `Forbidden`,
    `NotFound` and `ValidationFailed` (``number_not_assigned``).
    """
    caller.require(Permission.ORGANIZATIONS_WRITE)
    organization = tenancy.get_organization(session, caller, organization_id)
    if not assign_confirmed(session, caller, number, organization, NumberSource.VERIFICATION_CALL):
        raise ValidationFailed.on(FIELD, "number_not_assigned", translate_stored(NOT_ASSIGNED))


def move(
    session: Session,
    caller: Caller,
    number: str,
    organization_id: UUID | None,
    *,
    expected_version: int | None = None,
) -> PhoneNumber:
    """Move a number to another organization, or to none of the partner's. Only the operator can
    move one to another partner, which counts as assigning it.

    Assistants that have the number elsewhere keep it and can't call. Raises `Forbidden`, `NotFound`
    and `Conflict` (``archived``, ``changed_meanwhile``).
    """
    caller.require(Permission.ORGANIZATIONS_WRITE)
    phone_number = _lock_number(session, caller, number)
    check_version(expected_version, phone_number.version, "phone number")
    target = None
    if organization_id is not None:
        target = tenancy.get_organization(session, caller, organization_id)
        tenancy.refuse_archived(target)
    if phone_number.organization_id == organization_id:
        return phone_number
    before = _owner_values(session, phone_number)
    if target is not None and target.partner_id != phone_number.partner_id:
        _record(session, caller, phone_number, "phone_number.released", before=before)
        before = {}
        phone_number.partner_id, phone_number.account_id = target.partner_id, None
        phone_number.source, phone_number.confirmed_at = NumberSource.ASSIGNED, utcnow()
        phone_number.confirmed_by = caller.label[:200]
    elif phone_number.organization_id is not None:
        _record(
            session,
            caller,
            phone_number,
            "phone_number.moved",
            before=before,
            after=_organization_values(target),
        )
    phone_number.organization_id = organization_id
    phone_number.version += 1
    session.flush()
    _record(
        session,
        caller,
        phone_number,
        "phone_number.assigned",
        before=before,
        after=_organization_values(target),
    )
    return phone_number


def release(
    session: Session, caller: Caller, number: str, *, expected_version: int | None = None
) -> None:
    """Take a number from its partner and organization: it is free again. For the operator.

    Raises `Forbidden`, `NotFound` and `Conflict` (``changed_meanwhile``).
    """
    _require_operator(caller)
    phone_number = _lock_number(session, caller, number)
    check_version(expected_version, phone_number.version, "phone number")
    _record(
        session,
        caller,
        phone_number,
        "phone_number.released",
        before=_owner_values(session, phone_number),
    )
    session.delete(phone_number)
    session.flush()


def assign_confirmed(
    session: Session,
    caller: Caller,
    number: str,
    organization: Organization,
    source: NumberSource,
) -> bool:
    """Assign the number to the organization, confirmed by ``source``; return whether it now is.

    It isn't if it is confirmed for another organization, or for a partner that keeps it.
    """
    now = utcnow()
    proof: dict[str, Any] = {
        "partner_id": organization.partner_id,
        "organization_id": organization.id,
        "source": source,
        "confirmed_at": now,
        "confirmed_by": caller.label[:200],
        "account_id": None,
    }
    new = insert_into(session, PhoneNumber).values(number=number, **proof).on_conflict_do_nothing()
    is_new = session.scalar(new.returning(PhoneNumber.number)) is not None
    phone_number = lock_number(session, number)
    if phone_number is None:
        return False
    is_own = (
        phone_number.partner_id == organization.partner_id
        and phone_number.organization_id in {organization.id, None}
    )
    if not is_own and phone_number.confirmed_at is not None:
        return False
    if is_own and not is_new and phone_number.source is NumberSource.ASSIGNED:
        proof["source"] = source = NumberSource.ASSIGNED  # it counts for more calls than any other
    before: dict[str, Any] = {}
    if not is_new:
        before = _owner_values(session, phone_number) | {"source": phone_number.source}
        if not is_own:
            _record(session, caller, phone_number, "phone_number.released", before=before)
            before = {}
        for name, value in proof.items():
            setattr(phone_number, name, value)
        phone_number.version += 1
        session.flush()
    after = _organization_values(organization) | {"source": source}
    _record(session, caller, phone_number, "phone_number.assigned", before=before, after=after)
    return True


def _lock_number(session: Session, caller: Caller, number: str) -> PhoneNumber:
    """The number, locked with its organization, as calls lock it when they are placed: a call is
    placed before the change, or checked after it."""
    owner_id = get(session, caller, number).organization_id
    locked_owner = select(Organization.id).where(Organization.id == owner_id)
    session.execute(locked_owner.with_for_update(key_share=True))
    return get(session, caller, number, for_change=True)


def _parse_numbers(texts: Sequence[str], region: str) -> tuple[list[str], list[Problem]]:
    """Return the numbers without repetitions, and the problems of the others. Raises
    `ValidationFailed` for no or too many texts."""
    if not texts:
        raise ValidationFailed.on("numbers", "required", gettext("Enter at least one number."))
    if len(texts) > MAX_NUMBERS:
        limit = localize_number(MAX_NUMBERS)
        message = gettext("Assign at most %(most)s numbers at once.", most=limit)
        raise ValidationFailed.on("numbers", "too_many", message)
    numbers: dict[str, None] = {}
    problems = []
    for text in texts:
        try:
            numbers[normalise_written(text, region)] = None
        except PhoneError as error:
            message = f"{text[:40]}: {error.message}"
            problems.append(Problem("numbers", "invalid_phone", message))
    return list(numbers), problems


def _require_operator(caller: Caller) -> None:
    caller.require_operator(gettext("Only the platform operator assigns and releases numbers."))


def _owner_values(session: Session, number: PhoneNumber) -> dict[str, Any]:
    if number.organization_id is None:
        return _organization_values(None)
    return _organization_values(session.get_one(Organization, number.organization_id))


def _organization_values(organization: Organization | None) -> dict[str, Any]:
    return {"organization": organization.name if organization else None}


def _record(
    session: Session, caller: Caller, number: PhoneNumber, action: str, **values: Any
) -> None:
    audit.record(
        session,
        caller,
        action=action,
        target_type="phone_number",
        target_id=number.number,
        partner_id=number.partner_id,
        organization_id=number.organization_id,
        target=number.number,
        **values,
    )
