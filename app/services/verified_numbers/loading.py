"""The numbers that an organization has verified, or is about to."""

from collections.abc import Collection, Sequence
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.enums import VerificationPurpose
from app.errors import NotFound
from app.languages import gettext
from app.models import Organization, VerifiedNumber
from app.policy import Permission
from app.policy.caller import Caller
from app.services.tenancy import fetch, get_organization, of_tenant

MAX_WRONG_CODES = 5


class VerificationStatus(StrEnum):
    VERIFIED = "verified"
    WAITING = "waiting"
    """The code can be entered."""
    ENDED = "ended"
    """The code has expired, or was entered wrongly too often. A new call is needed."""


def status_of(number: VerifiedNumber, now: datetime) -> VerificationStatus:
    if number.verified_at is not None:
        return VerificationStatus.VERIFIED
    if now >= number.code_expires_at or number.wrong_codes >= MAX_WRONG_CODES:
        return VerificationStatus.ENDED
    return VerificationStatus.WAITING


def require_verifying(caller: Caller, purpose: VerificationPurpose) -> None:
    """Raise `Forbidden` for a caller who may not verify numbers for this purpose."""
    caller.require(Permission.CALLS_CREATE)
    if purpose is VerificationPurpose.CALLER_ID:
        caller.require(Permission.ORGANIZATIONS_WRITE)


def verified_among(
    session: Session,
    organization_id: UUID,
    phones: Collection[str],
    purpose: VerificationPurpose = VerificationPurpose.CALL_TRIAL,
) -> frozenset[str]:
    """Return those of the numbers that the organization has verified for this purpose."""
    query = select(VerifiedNumber.phone).where(
        VerifiedNumber.organization_id == organization_id,
        VerifiedNumber.phone.in_(phones),
        VerifiedNumber.purpose == purpose,
        VerifiedNumber.verified_at.is_not(None),
    )
    return frozenset(session.scalars(query))


def has_verified(
    phone: ColumnElement[str] | InstrumentedAttribute[str] | InstrumentedAttribute[str | None],
) -> ColumnElement[bool]:
    """For queries of organizations: whether each has verified the number for calls in trial
    mode."""
    verified = select(VerifiedNumber.id).where(
        VerifiedNumber.organization_id == Organization.id,
        VerifiedNumber.phone == phone,
        VerifiedNumber.purpose == VerificationPurpose.CALL_TRIAL,
        VerifiedNumber.verified_at.is_not(None),
    )
    return verified.correlate_except(VerifiedNumber).exists()


def listing(
    session: Session,
    caller: Caller,
    organization_id: UUID,
    purpose: VerificationPurpose = VerificationPurpose.CALL_TRIAL,
) -> Sequence[VerifiedNumber]:
    """Return the organization's numbers for this purpose, latest request first. Raises `Forbidden`
    and `NotFound`."""
    caller.require(Permission.CALLS_READ)
    organization = get_organization(session, caller, organization_id)
    query = _visible_query(caller).where(
        VerifiedNumber.organization_id == organization.id, VerifiedNumber.purpose == purpose
    )
    order = VerifiedNumber.requested_at.desc(), VerifiedNumber.id.desc()
    return session.scalars(query.order_by(*order)).all()


def get(
    session: Session,
    caller: Caller,
    organization_id: UUID,
    number_id: UUID,
    *,
    for_change: bool = False,
) -> VerifiedNumber:
    """Return one of the organization's numbers; ``for_change`` locks it. Raises `Forbidden` and
    `NotFound` (``number_not_found``)."""
    caller.require(Permission.CALLS_READ)
    query = _visible_query(caller).where(
        VerifiedNumber.id == number_id, VerifiedNumber.organization_id == organization_id
    )
    missing = NotFound(gettext("There is no such number."), "number_not_found")
    return fetch(session, query, missing, for_change=for_change)


def _visible_query(caller: Caller) -> Select[VerifiedNumber]:
    owners = VerifiedNumber.partner_id, VerifiedNumber.organization_id
    return of_tenant(select(VerifiedNumber), caller, *owners)
