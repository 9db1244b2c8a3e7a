"""Groups of organizations, to which admins and their API clients can be limited."""

from uuid import UUID

from sqlalchemy import Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import Base, Created, Id, Name, PartnerId, Updated, tenant_key


class OrganizationGroup(Base):
    """Organizations of a partner under a name."""

    __tablename__ = "organization_groups"
    __table_args__ = (
        UniqueConstraint("partner_id", "id"),
        UniqueConstraint("partner_id", "name_key"),
    )

    id: Mapped[Id]
    partner_id: Mapped[PartnerId]
    name: Mapped[Name]
    name_key: Mapped[Name]
    """The name in the form in which names are compared."""
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[Created]
    updated_at: Mapped[Updated]


class GroupedOrganization(Base):
    __tablename__ = "grouped_organizations"
    __table_args__ = (
        tenant_key("organization_groups", "partner_id", "group_id"),
        tenant_key("organizations", "partner_id", "organization_id"),
        Index("ix_grouped_organizations_organization", "organization_id"),
    )

    group_id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID] = mapped_column(primary_key=True)
    partner_id: Mapped[UUID]


class GroupLimit(Base):
    """A user or API client, by its id, that is limited to a group, among others if it has several.

    `User.is_limited` or that of the client decides whether it is limited at all: with no group left
    it sees nothing.
    """

    __tablename__ = "group_limits"
    __table_args__ = (tenant_key("organization_groups", "partner_id", "group_id"),)

    subject_id: Mapped[UUID] = mapped_column(primary_key=True)
    group_id: Mapped[UUID] = mapped_column(primary_key=True)
    partner_id: Mapped[UUID]
