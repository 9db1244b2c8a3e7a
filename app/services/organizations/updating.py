"""Change the names, plans and limits of organizations."""

from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from app.errors import ValidationFailed, check_length, check_version
from app.languages import gettext
from app.models import Organization, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas.base import wire_name
from app.schemas.fields import can_be_seen
from app.schemas.organizations import UpdateOrganizationInput
from app.services import audit, rollup
from app.services.billing_address import BillingAddress
from app.services.organizations.loading import get, get_in
from app.services.postponed_calls import request_rescheduling
from app.validation.texts import trim

MAX_NAME = 200


def update(
    session: Session,
    caller: Caller,
    organization_id: UUID,
    changes: UpdateOrganizationInput,
    *,
    partner_id: UUID | None = None,
    name: str | None = None,
    billing_address: BillingAddress | None = None,
    expected_version: int | None = None,
) -> Organization:
    """Merge the sent fields: absent keeps, null clears. ``name`` and ``billing_address`` replace
    those of the organization, if given. ``partner_id`` requires that the organization belongs to
    that partner. Raises `Forbidden`, `NotFound`, and `Conflict` (``changed_meanwhile``)."""
    caller.require(Permission.ORGANIZATIONS_WRITE)
    if partner_id is not None:
        get_in(session, caller, partner_id, organization_id)
    organization = lock_organization(session, caller, organization_id, expected_version)
    values: dict[str, Any] = changes.sent()
    if name is not None:
        values["name"] = validate_name(name)
    if billing_address is not None:
        values["billing_address"] = billing_address.to_json()
    change(session, caller, organization, values)
    return organization


def change(
    session: Session, caller: Caller, organization: Organization, values: dict[str, Any]
) -> bool:
    """Write fields of a locked organization; return whether anything differed."""
    before, tier_before = audit_values(organization), organization.payment_tier
    differing = {n: v for n, v in values.items() if getattr(organization, n) != v}
    if not differing:
        return False
    for field, value in differing.items():
        setattr(organization, field, value)
    if "payment_tier" in differing:
        organization.tier_since = utcnow()
        rollup.move_organization(session, organization, tier_before, organization.payment_tier)
    audit.record_version(
        session,
        caller,
        "organization.updated",
        organization,
        before=before,
        after=audit_values(organization),
    )
    if "payment_tier" in differing:
        request_rescheduling(session, organization.partner_id, organization.id)
    return True


def lock_organization(
    session: Session, caller: Caller, organization_id: UUID, expected_version: int | None
) -> Organization:
    """Return the organization, locked for a change. Raises `NotFound` and `Conflict`
    (``changed_meanwhile``)."""
    organization = get(session, caller, organization_id, for_change=True)
    check_version(expected_version, organization.version, "organization")
    return organization


def validate_name(name: str) -> str:
    """Return the name without surrounding spaces. Raises `ValidationFailed` (``blank``,
    ``too_long``)."""
    name = trim(name)
    if not can_be_seen(name):
        raise ValidationFailed.on("name", "blank", gettext("Enter a name."))
    check_length("name", name, MAX_NAME)
    return name


def audit_values(organization: Organization) -> dict[str, Any]:
    """Return what the history shows of an organization."""
    fields = ("name", "payment_tier", "assistant_limit", "user_limit")
    codes = ("referral_code", "referred_by_code")
    values = {wire_name(field): getattr(organization, field) for field in (*fields, *codes)}
    return values | BillingAddress.of(organization.billing_address).for_history()
