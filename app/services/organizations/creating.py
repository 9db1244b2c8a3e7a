"""Create organizations."""

from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Tier
from app.errors import Problem
from app.languages import gettext
from app.models import FIRST_REGION, Organization, Partner, new_id, utcnow
from app.models.base import name_key
from app.policy import Permission
from app.policy.caller import Caller
from app.services import assistants, audit, destinations, organization_groups, partners, rollup
from app.services.organizations.countries import check_country
from app.services.organizations.updating import audit_values, validate_name


@dataclass(frozen=True, slots=True)
class NewOrganization:
    """The input for an organization. Without an ``assistant_limit`` it gets that of the partner;
    ``country`` is a region code."""

    name: str
    payment_tier: Tier = Tier.FREE
    assistant_limit: int | None = None
    user_limit: int = 1
    referral_code: str | None = None
    referred_by_code: str | None = None
    country: str = FIRST_REGION


def create(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    data: NewOrganization,
    *,
    in_trial: bool = True,
) -> Organization:
    """Create an organization with one assistant, named and described by the partner's defaults. It
    starts ``in_trial`` unless that is False and the partner's trial has ended.

    Raises `Forbidden`, `NotFound`, or `ValidationFailed` (``blank``, ``too_long``,
    ``unknown_region``, ``region_closed``).
    """
    caller.require(Permission.ORGANIZATIONS_WRITE)
    partner = partners.get(session, caller, partner_id)
    check_country(session, caller, partner_id, data.country)
    data = replace(data, name=validate_name(data.name))
    organization = add(session, caller, partner, data, in_trial=in_trial)
    assistants.add_assistant(
        session,
        caller,
        organization,
        name=partner.default_assistant_name,
        service=partner.default_service,
    )
    return organization


def duplicate_name_problems(session: Session, partner_id: UUID, name: str) -> list[Problem]:
    """Return a problem (``name_taken``) if the partner has an organization of this name, ignoring
    case and accents, that isn't archived. Scripts may send the same name again."""
    key = name_key(name.replace("\x00", ""))
    existing = select(Organization.id).where(
        Organization.partner_id == partner_id,
        Organization.name_key == key,
        Organization.status != OrganizationStatus.ARCHIVED,
    )
    if not key or session.scalar(existing.limit(1)) is None:
        return []
    message = gettext("There is an organization %(name)s already.", name=name)
    return [Problem("name", "name_taken", message)]


def add(
    session: Session,
    caller: Caller,
    partner: Partner,
    data: NewOrganization,
    *,
    in_trial: bool = True,
) -> Organization:
    """Add the organization after its caller was authorized. It may call its own ``country`` and
    those that the partner has opened."""
    now = utcnow()
    is_free = not in_trial and partner.trial_ended_at is not None
    opened = destinations.opened_by_partner(session, partner.id)
    own_limit = data.assistant_limit
    organization = Organization(
        id=new_id(),
        partner_id=partner.id,
        name=data.name,
        payment_tier=data.payment_tier,
        assistant_limit=partner.default_assistant_limit if own_limit is None else own_limit,
        user_limit=data.user_limit,
        referral_code=data.referral_code,
        referred_by_code=data.referred_by_code,
        created_at=now,
        updated_at=now,
        tier_since=now,
        trial_ended_at=now if is_free else None,
        default_region=data.country,
        allowed_regions=sorted({data.country, *opened}),
    )
    session.add(organization)
    session.flush()
    organization_groups.add_created(session, caller, organization)
    rollup.add_organization(session, partner.id, organization.payment_tier)
    audit.record_change(
        session, caller, "organization.created", organization, after=audit_values(organization)
    )
    return organization
