"""The history entries of refused sign-ins and recovery requests.

Each account with the address is named in its partner's history. An address without an account is
never stored: the entry belongs to the partner of the page, or to the operator alone.
"""

from collections.abc import Iterator, Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, UserStatus
from app.models import Organization, Partner, User
from app.services.audit import refusals
from app.services.audit.refusals import Refusal
from app.services.auth.throttle import FailureCounter
from app.validation.networks import network_of

TOO_MANY = "too_many_failures"


def record_refusal(
    session: Session,
    email: str,
    partner_id: UUID | None,
    ip: str | None,
    request_id: str | None = None,
) -> None:
    """Record a refused sign-in: wrong password, unknown address, or an account that is
    not active."""
    network = network_of(ip)
    refused: list[Refusal] = []
    for user, is_open in _accounts_at(session, email, partner_id):
        is_active = is_open and user.status is UserStatus.ACTIVE
        reason = "wrong_password" if is_active else "not_active"
        refused.append(_of_account(refusals.SIGN_IN, reason, user, network))
    if not refused:
        refused = [without_account(refusals.SIGN_IN, "unknown_email", partner_id, network)]
    refusals.record_refusals(session, refusals.anonymous_caller(request_id), refused)


def record_too_many(
    session: Session, email: str, partner_id: UUID | None, ip: str | None, counter: FailureCounter
) -> None:
    """Record a sign-in that came too early. It is counted once for its counter, however many
    accounts and networks the attempts name."""
    network = None if counter.is_of_everywhere else network_of(ip)
    refused: Sequence[Refusal] = ()
    if counter.is_of_account:
        refused = [
            _of_account(refusals.SIGN_IN, TOO_MANY, user, network)
            for user, _is_open in _accounts_at(session, email, partner_id)
        ]
    if not refused:
        refused = [without_account(refusals.SIGN_IN, TOO_MANY, partner_id, network)]
    refusals.record_refusals(session, refusals.anonymous_caller(), refused)


def record_company_account(
    session: Session,
    partner_id: UUID | None,
    ip: str | None,
    request_id: str | None = None,
    reason: str = "company_account",
) -> None:
    """Record a company account that opened no account, or a right password that wasn't enough."""
    refusal = without_account(refusals.SIGN_IN, reason, partner_id, network_of(ip))
    refusals.record_refusals(session, refusals.anonymous_caller(request_id), [refusal])


def record_recovery(
    session: Session, email: str, partner_id: UUID | None, network: str | None
) -> None:
    """Record a recovery request without a mail: for an unknown address, or an account that is not
    active."""
    accounts = list(_accounts_at(session, email, partner_id))
    refused = [
        _of_account(refusals.RECOVERY, "not_active", user, network)
        for user, is_open in accounts
        if not is_open or user.status not in (UserStatus.ACTIVE, UserStatus.INVITED)
    ]
    if not accounts:
        refused = [without_account(refusals.RECOVERY, "unknown_email", partner_id, network)]
    refusals.record_refusals(session, refusals.anonymous_caller(), refused)


def without_account(
    action: str, reason: str, partner_id: UUID | None, network: str | None
) -> Refusal:
    """Return a refusal that names no account, of a partner's page or of the installation."""
    return Refusal(
        action=action,
        reason=reason,
        target_type="partner" if partner_id else "installation",
        target_id=partner_id or "installation",
        partner_id=partner_id,
        network=network,
    )


def _accounts_at(
    session: Session, email: str, partner_id: UUID | None
) -> Iterator[tuple[User, bool]]:
    """Return the accounts with this address, and whether partner and organization are active."""
    query = (
        select(User, Partner.suspended_at, Organization.status)
        .outerjoin(Partner, Partner.id == User.partner_id)
        .outerjoin(Organization, Organization.id == User.organization_id)
        .where(User.email_key == email)
    )
    if partner_id is not None:
        query = query.where(User.partner_id == partner_id)
    for user, suspended_at, status in session.execute(query):
        yield user, suspended_at is None and status in (None, OrganizationStatus.ACTIVE)


def _of_account(action: str, reason: str, user: User, network: str | None) -> Refusal:
    return Refusal(
        action=action,
        reason=reason,
        target_type="user",
        target_id=user.id,
        target=user.email,
        partner_id=user.partner_id,
        organization_id=user.organization_id,
        network=network,
    )
