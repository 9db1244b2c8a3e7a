"""The phone numbers meant by a search without a country code."""

from contextlib import suppress

from sqlalchemy import ScalarSelect, Select, func, select
from sqlalchemy.orm import Session

from app.models import Organization
from app.phone import PhoneError, normalise
from app.policy.caller import Caller
from app.services.tenancy import of_tenant

MAX_REGIONS = 20


def numbers_meant(session: Session, caller: Caller, text: str) -> set[str]:
    """Return the numbers in E.164 that the text can mean, in the regions of the organizations."""
    numbers = numbers_in_regions(session, caller, text)
    digits = "".join(c for c in text if c.isdecimal()).removeprefix("00")
    with suppress(PhoneError):
        numbers.add(normalise(f"+{digits}", None))
    return numbers


def numbers_in_regions(session: Session, caller: Caller, text: str) -> set[str]:
    """Return the numbers, in E.164, that one without a country code stands for in the regions of
    the caller's organizations; none if the text isn't a number there."""
    numbers: set[str] = set()
    if not any(map(str.isdecimal, text)):
        return numbers
    for region in session.scalars(_regions(caller)):
        try:
            numbers.add(normalise(text, region))
        except PhoneError:
            continue
    return numbers


def _regions(caller: Caller) -> Select[str | None]:
    """Return the query of the regions, each found from the previous one by an index: "distinct"
    would read all organizations."""
    region = Organization.default_region
    lowest = select(func.min(region).label("region")).select_from(Organization)
    visited = _of_caller(caller, lowest).cte("regions", recursive=True)
    after: ScalarSelect[str] = _of_caller(
        caller, lowest.where(region > visited.c.region)
    ).scalar_subquery()
    regions = visited.union_all(select(after).where(visited.c.region.is_not(None)))
    distinct_regions = select(regions.c.region).where(regions.c.region.is_not(None))
    return distinct_regions.limit(MAX_REGIONS)


def _of_caller(caller: Caller, query: Select[str]) -> Select[str]:
    return of_tenant(query, caller, Organization.partner_id, Organization.id)
