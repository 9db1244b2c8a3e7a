"""Provisioning from a partner's directory (SCIM): tokens, users, groups and their roles."""

from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import Role
from app.models.base import (
    Base,
    Created,
    Id,
    Name,
    PartnerId,
    Short,
    Time,
    Updated,
    enum_column,
    tenant_key,
)
from app.models.credential import ScriptCredential


class ScimToken(ScriptCredential, Base):
    """A bearer token of a partner's directory."""

    __tablename__ = "scim_tokens"
    __table_args__ = (Index("ix_scim_tokens_partner", "partner_id", "created_at"),)

    partner_id: Mapped[PartnerId]
    name: Mapped[Name]
    public_id: Mapped[Short] = mapped_column(unique=True)
    replaced_by: Mapped[UUID | None] = mapped_column(ForeignKey("scim_tokens.id"))


class ScimSettings(Base):
    """A partner's settings for users from its directory; without a row the defaults."""

    __tablename__ = "scim_settings"

    partner_id: Mapped[PartnerId] = mapped_column(primary_key=True)
    default_role: Mapped[Role | None] = mapped_column(enum_column(Role))
    """The role of users in no group with a role; None gives them no access."""
    version: Mapped[int] = mapped_column(default=1)
    updated_at: Mapped[Updated]


class ScimUser(Base):
    """The directory's data about a user, beyond the portal's own."""

    __tablename__ = "scim_users"
    __table_args__ = (
        tenant_key("users", "partner_id", "user_id"),
        Index("ix_scim_users_external_id", "partner_id", "external_id"),
    )

    user_id: Mapped[UUID] = mapped_column(primary_key=True)
    partner_id: Mapped[UUID]
    external_id: Mapped[Name | None]
    given_name: Mapped[Name | None]
    family_name: Mapped[Name | None]
    waits_for_role: Mapped[bool] = mapped_column(default=False, server_default=false())
    """Active in the directory, but deactivated here until a group gives a role."""
    removed_at: Mapped[Time | None]
    """When the directory deleted the user, who is deactivated here."""
    created_at: Mapped[Created]
    updated_at: Mapped[Updated]


class ScimGroup(Base):
    """A group of the directory and the role that it gives; None gives none."""

    __tablename__ = "scim_groups"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        UniqueConstraint("partner_id", "id"),
        UniqueConstraint("partner_id", "display_key"),
    )

    id: Mapped[Id]
    partner_id: Mapped[PartnerId]
    display_name: Mapped[Name]
    display_key: Mapped[Name]
    """The name in the form in which names are compared: lower case."""
    external_id: Mapped[Name | None]
    role: Mapped[Role | None] = mapped_column(enum_column(Role))
    organization_id: Mapped[UUID | None]
    """The organization of members; users of the partner itself have none."""
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[Created]
    updated_at: Mapped[Updated]


class ScimMember(Base):
    """A user in a group of the directory."""

    __tablename__ = "scim_members"
    __table_args__ = (
        tenant_key("scim_groups", "partner_id", "group_id"),
        tenant_key("users", "partner_id", "user_id"),
        Index("ix_scim_members_user_id", "user_id"),
    )

    group_id: Mapped[UUID] = mapped_column(primary_key=True)
    user_id: Mapped[UUID] = mapped_column(primary_key=True)
    partner_id: Mapped[UUID]
    created_at: Mapped[Created]
