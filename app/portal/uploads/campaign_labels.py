"""The names of uploads' campaigns: with the organization for staff, who see several."""

from collections.abc import Collection
from uuid import UUID

from sqlalchemy.orm import Session

from app.extensions import caller
from app.languages import gettext
from app.models import Campaign, ContactImport
from app.services import organizations


def campaign_label(campaign_name: str, organization_name: str | None) -> str:
    if organization_name is None:
        return campaign_name
    return gettext(
        "%(campaign)s of %(organization)s",
        campaign=campaign_name,
        organization=organization_name,
    )


def organizations_of(
    session: Session, records: Collection[ContactImport | Campaign]
) -> dict[UUID, str]:
    """Return the names of the organizations; empty for members, who have only one."""
    if caller().organization_id is not None:
        return {}
    return organizations.names_of(session, caller(), {each.organization_id for each in records})
