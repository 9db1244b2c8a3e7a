"""The country of a new organization: its numbers can be called, and numbers without a country code
belong to it."""

from collections import Counter
from uuid import UUID

from sqlalchemy.orm import Session

from app.errors import ValidationFailed
from app.languages import gettext
from app.models import FIRST_REGION, Organization
from app.phone import regions
from app.policy.caller import Caller
from app.services.organizations.loading import visible
from app.services.organizations.settings import OpenableRegions, closed_region_message, openable_of

LOOKED_AT = 100
"""How many of the newest organizations decide which country is usual."""


def usual_country(session: Session, caller: Caller, partner_id: UUID) -> str:
    """Return the country of most of the partner's newest organizations that a new one may have."""
    newest = (
        visible(caller)
        .with_only_columns(Organization.default_region)
        .where(Organization.partner_id == partner_id)
        .order_by(Organization.created_at.desc(), Organization.id.desc())
        .limit(LOOKED_AT)
    )
    openable = _openable_regions(session, caller, partner_id)
    ranked = Counter(session.scalars(newest)).most_common()
    allowed = (country for country, _count in ranked if not openable.closed_as_own(country))
    return next(allowed, FIRST_REGION)


def check_country(session: Session, caller: Caller, partner_id: UUID, country: str) -> None:
    """Raise `ValidationFailed` (``unknown_region``, ``region_closed``) unless a new organization of
    the partner may have the country."""
    if country == FIRST_REGION:
        return
    if country not in {code for code, _name in regions()}:
        raise ValidationFailed.on("defaultRegion", "unknown_region", gettext("Choose a country."))
    if layer := _openable_regions(session, caller, partner_id).closed_as_own(country):
        message = closed_region_message(country, layer)
        raise ValidationFailed.on("defaultRegion", "region_closed", message)


def _openable_regions(session: Session, caller: Caller, partner_id: UUID) -> OpenableRegions:
    new = Organization(
        partner_id=partner_id, default_region=FIRST_REGION, allowed_regions=[FIRST_REGION]
    )
    return openable_of(session, caller, new)
