"""The numbers on the page of an organization, read together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from app.models import Organization, utcnow
from app.services.calls import limits
from app.services.organizations import status, use
from app.services.storage import usage


@dataclass(frozen=True, slots=True)
class OrganizationNumbers:
    """What an organization has, what stopping it ends, the bytes that it stores, its current calls
    and those of today."""

    contents: use.OrganizationContents
    reach: status.ActiveItems
    stored: int
    under_way: int
    made: int


def numbers_of(session: Session, organization: Organization) -> OrganizationNumbers:
    """Count them in one query; the organization must come from its loader."""
    parts: tuple[Sequence[Select[Any]], ...] = (
        use.contents_counts(),
        status.reach_counts(organization.id),
        usage.sums_of_organization(organization),
        limits.use_counts(organization, utcnow()),
    )
    counts = (query.scalar_subquery() for part in parts for query in part)
    asked = select(*counts).select_from(Organization).where(Organization.id == organization.id)
    counted: Iterator[Any] = iter(session.execute(asked).one())
    contents, reach, stored, (under_way, made) = (
        tuple(islice(counted, len(part))) for part in parts
    )
    return OrganizationNumbers(
        use.contents_from(contents),
        status.ActiveItems(*reach),
        sum(int(each or 0) for each in stored),
        under_way,
        made,
    )
