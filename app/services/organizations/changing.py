"""Create organizations, change their names, plans and limits."""

from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import Tier
from app.errors import ValidationFailed, refuse_stale, refuse_too_long
from app.languages import gettext
from app.models import FIRST_REGION, Organization, Partner, new_id, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas.base import wire_name
from app.schemas.fields import can_be_seen
from app.schemas.organizations import UpdateOrganizationInput
from app.services import assistants, audit, destinations, organization_groups, partners, rollup
from app.services.billing_address import BillingAddress
from app.services.calls import waiting
from app.services.organizations.loading import get, get_in

MAX_NAME = 200


def create(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    *,
    name: str,
    payment_tier: Tier = Tier.FREE,
    assistant_limit: int | None = None,
    user_limit: int = 1,
    referral_code: str | None = None,
    referred_by_code: str | None = None,
    in_trial: bool = True,
) -> Organization:
    """Create an organization with one assistant, named and described by the partner's defaults; its
    default assistant limit is the partner's. It starts ``in_trial`` unless that is False and the
    partner's trial has ended.

    Raises `Forbidden`, `NotFound`, or `ValidationFailed` (``blank``, ``too_long``).
    """
    caller.require(Permission.ORGANIZATIONS_WRITE)
    partner = partners.get(session, caller, partner_id)
    organization = add(
        session,
        caller,
        partner,
        name=checked_name(name),
        payment_tier=payment_tier,
        assistant_limit=partner.default_assistant_limit
        if assistant_limit is None
        else assistant_limit,
        user_limit=user_limit,
        referral_code=referral_code,
        referred_by_code=referred_by_code,
        in_trial=in_trial,
    )
    assistants.add_assistant(
        session,
        caller,
        organization,
        name=partner.default_assistant_name,
        service=partner.default_service,
    )
    return organization


def add(
    session: Session, caller: Caller, partner: Partner, *, in_trial: bool = True, **fields: Any
) -> Organization:
    """Add the organization after its caller was authorized. It may call its own country and those
    that the partner has opened."""
    now = utcnow()
    is_free = not in_trial and partner.trial_ended_at is not None
    opened = destinations.opened_by_partner(session, partner.id)
    organization = Organization(
        id=new_id(),
        partner_id=partner.id,
        created_at=now,
        updated_at=now,
        tier_since=now,
        trial_ended_at=now if is_free else None,
        default_region=FIRST_REGION,
        allowed_regions=sorted({FIRST_REGION, *opened}),
        **{"assistant_limit": partner.default_assistant_limit, **fields},
    )
    session.add(organization)
    session.flush()
    organization_groups.join(session, caller, organization)
    rollup.add_organization(session, partner.id, organization.payment_tier)
    audit.record_change(
        session, caller, "organization.created", organization, after=_facts(organization)
    )
    return organization


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
        values["name"] = checked_name(name)
    if billing_address is not None:
        values["billing_address"] = billing_address.to_json()
    change(session, caller, organization, values)
    return organization


def change(
    session: Session, caller: Caller, organization: Organization, values: dict[str, Any]
) -> bool:
    """Write fields of a locked organization; return whether anything differed."""
    before, tier_before = _facts(organization), organization.payment_tier
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
        after=_facts(organization),
    )
    if "payment_tier" in differing:
        waiting.request_rescheduling(session, organization.partner_id, organization.id)
    return True


def lock_organization(
    session: Session, caller: Caller, organization_id: UUID, expected_version: int | None
) -> Organization:
    """Return the organization, locked for a change. Raises `NotFound` and `Conflict`
    (``changed_meanwhile``)."""
    organization = get(session, caller, organization_id, for_change=True)
    refuse_stale(expected_version, organization.version, "organization")
    return organization


def checked_name(name: str) -> str:
    """Return the name without surrounding spaces. Raises `ValidationFailed` (``blank``,
    ``too_long``)."""
    name = name.replace("\x00", "").strip()
    if not can_be_seen(name):
        raise ValidationFailed.on("name", "blank", gettext("Enter a name."))
    refuse_too_long("name", name, MAX_NAME)
    return name


def _facts(organization: Organization) -> dict[str, Any]:
    fields = ("name", "payment_tier", "assistant_limit", "user_limit")
    codes = ("referral_code", "referred_by_code")
    facts = {wire_name(field): getattr(organization, field) for field in (*fields, *codes)}
    return facts | BillingAddress.of(organization.billing_address).for_history()
