"""The numbers that are searched for where no country code is typed."""

from contextlib import suppress

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Organization
from app.phone import PhoneError, normalise
from app.policy.caller import Caller
from app.services.tenancy import of_tenant

MOST_REGIONS = 20


def numbers_meant(session: Session, caller: Caller, words: str) -> set[str]:
    """Return the numbers in E.164 that the text can mean, in the regions of the organizations."""
    found = numbers_in_regions(session, caller, words)
    digits = "".join(c for c in words if c.isdecimal()).removeprefix("00")
    with suppress(PhoneError):
        found.add(normalise(f"+{digits}", None))
    return found


def numbers_in_regions(session: Session, caller: Caller, text: str) -> set[str]:
    """Return the numbers, in E.164, that one without a country code stands for in the regions of
    the caller's organizations; none if the text is no number there."""
    regions = select(Organization.default_region).distinct().limit(MOST_REGIONS)
    regions = of_tenant(regions, caller, Organization.partner_id, Organization.id)
    found = set()
    for region in session.scalars(regions):
        try:
            found.add(normalise(text, region))
        except PhoneError:
            continue
    return found
