"""The three layers as stored, read together."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import InstallationDestinations, Organization, Partner, PartnerDestinations
from app.phone import USUAL_REGIONS, OpenRegions

Hosts = Sequence[str] | None
"""Patterns of hosts; None is any host."""


@dataclass(frozen=True, slots=True)
class CallDestinations:
    """Where an organization's calls may go. A hand-over needs a host that the operator allows, for
    the installation and for the partner, and that is among ``partner_hosts``."""

    regions: OpenRegions
    operator_hosts: tuple[Hosts, Hosts] = (None, None)
    partner_hosts: Sequence[str] = ()


def read_destinations(
    organization: Organization,
    installation: InstallationDestinations | None,
    partner_rules: PartnerDestinations | None,
) -> CallDestinations:
    """Return the destinations from their rows. The organization's own country, which is its default
    region, needs no opening by the partner."""
    opened = partner_rules.regions if partner_rules else ()
    return CallDestinations(
        OpenRegions(
            operator=operator_regions(installation, partner_rules),
            partner=frozenset(opened) | {organization.default_region},
            organization=frozenset(organization.allowed_regions),
        ),
        (
            installation.hosts if installation else None,
            partner_rules.limit_hosts if partner_rules else None,
        ),
        partner_rules.hosts if partner_rules else (),
    )


def destinations_of(session: Session, organization: Organization) -> CallDestinations:
    """Return the destinations of an organization that came from its loader."""
    return read_destinations(organization, *rows_of(session, organization.partner_id))


def opened_by_partner(session: Session, partner_id: UUID) -> frozenset[str]:
    """Return the regions that the partner has opened, and the operator hasn't closed."""
    installation, partner_rules = rows_of(session, partner_id)
    return frozenset(partner_rules.regions if partner_rules else ()) & operator_regions(
        installation, partner_rules
    )


def openable_by_partner(session: Session, partner_id: UUID) -> frozenset[str]:
    """Return the regions that the operator lets the partner open."""
    return operator_regions(*rows_of(session, partner_id))


def rows_of(
    session: Session, partner_id: UUID
) -> tuple[InstallationDestinations | None, PartnerDestinations | None]:
    """Return the rows of the installation and the partner, in one query."""
    query = (
        select(InstallationDestinations, PartnerDestinations)
        .select_from(Partner)
        .outerjoin(InstallationDestinations, InstallationDestinations.id == 1)
        .outerjoin(PartnerDestinations, PartnerDestinations.partner_id == Partner.id)
        .where(Partner.id == partner_id)
    )
    installation, partner_rules = session.execute(query).one()
    return installation, partner_rules


def operator_regions(
    installation: InstallationDestinations | None, partner_rules: PartnerDestinations | None
) -> frozenset[str]:
    """Return the operator's limit for a partner."""
    regions = USUAL_REGIONS
    if installation is not None and installation.regions is not None:
        regions = frozenset(installation.regions)
    if partner_rules is not None and partner_rules.limit_regions is not None:
        regions &= frozenset(partner_rules.limit_regions)
    return regions
