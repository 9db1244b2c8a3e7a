"""Users, their sessions and the one-time links sent to them."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import (
    CheckConstraint,
    ColumnElement,
    Index,
    UniqueConstraint,
    case,
    false,
    literal_column,
)
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import Role, UserStatus
from app.models.base import (
    Base,
    Created,
    Email,
    Hash,
    Id,
    Json,
    Line,
    Name,
    PartnerId,
    Searched,
    Short,
    Time,
    Updated,
    UserId,
    UtcDateTime,
    enum_column,
    partial_index,
    tenant_key,
)


class User(Searched, Base):
    """A user. Operators have no partner; only standard users have an organization."""

    searched = ("email", "name")

    __tablename__ = "users"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        UniqueConstraint("partner_id", "id"),
        UniqueConstraint("partner_id", "email_key"),
        UniqueConstraint("partner_id", "idp_uid"),
        Index("ix_users_partner_created", "partner_id", "created_at", "id"),
        Index("ix_users_partner_name", "partner_id", "name", "id"),
        Index("ix_users_partner_status", "partner_id", "status", "id"),
        Index("ix_users_partner_last_sign_in", "partner_id", "last_login", "id"),
        Index("ix_users_organization", "organization_id"),
        Index(
            "ix_users_organization_created",
            "partner_id",
            "organization_id",
            "created_at",
            "id",
        ),
        Index("ix_users_email_key", "email_key"),
        partial_index(
            "uq_users_operator_email", "email_key", unique=True, where="partner_id IS NULL"
        ),
        CheckConstraint("(user_type = 'operator') = (partner_id IS NULL)", name="operator"),
        CheckConstraint(
            "(user_type = 'standard') = (organization_id IS NOT NULL)", name="standard"
        ),
        CheckConstraint(
            "idp_uid IS NULL OR idp_uid NOT IN ('usage', 'subscription', 'partial')", name="idp_uid"
        ),
    )

    id: Mapped[Id]
    partner_id: Mapped[PartnerId | None]
    organization_id: Mapped[UUID | None]
    email: Mapped[Email]
    email_key: Mapped[Email]
    name: Mapped[Name | None]
    user_type: Mapped[Role] = mapped_column(enum_column(Role))
    is_owner: Mapped[bool] = mapped_column(default=False, server_default=false())
    admin_owned: Mapped[bool] = mapped_column(default=False)
    is_limited: Mapped[bool] = mapped_column(default=False, server_default=false())
    """Whether, as an admin, the user sees only the organizations of their groups."""
    unsubscribe: Mapped[bool] = mapped_column(default=True)
    last_session: Mapped[Time | None]
    last_sign_in: Mapped[datetime | None] = mapped_column("last_login", UtcDateTime)
    idp_uid: Mapped[Name | None]
    status: Mapped[UserStatus] = mapped_column(enum_column(UserStatus), default=UserStatus.ACTIVE)
    password_hash: Mapped[Line | None]
    timezone: Mapped[Short | None]
    theme: Mapped[Short | None]
    language: Mapped[Short | None]
    """A code of `app.languages`; None follows the partner and the browser."""
    notifications: Mapped[dict[str, Any]] = mapped_column(Json, default=dict)
    """The user's choices of mails that differ from the defaults."""
    notifications_read_at: Mapped[Time | None]
    """When the user last marked all notifications as read."""
    first_steps_hidden_at: Mapped[Time | None]
    """When the user hid the first steps on the overview; None while they are shown."""
    second_factor_at: Mapped[Time | None]
    """Since when signing in takes a second step; None if the password is enough."""
    version: Mapped[int] = mapped_column(default=1)
    invited_by_id: Mapped[UUID | None] = mapped_column(index=True)
    """The user or API client that created or invited the user, or took over the invitation."""
    created_at: Mapped[Created]
    updated_at: Mapped[Updated]

    @hybrid_property
    def role(self) -> Role:
        """The role that decides what the user may do: ``user_type``, or ``owner`` for an owner."""
        return Role.OWNER if self.is_owner else self.user_type

    @role.inplace.setter
    def _set_role(self, role: Role) -> None:
        self.is_owner = role is Role.OWNER
        self.user_type = Role.STANDARD if self.is_owner else role

    @role.inplace.expression
    @classmethod
    def _role(cls) -> ColumnElement[Role]:
        # nosemgrep: sql-made-of-values - a constant
        owner = literal_column(f"'{Role.OWNER}'", cls.user_type.type)
        return case((cls.is_owner, owner), else_=cls.user_type)

    @classmethod
    def has_role(cls, role: Role) -> ColumnElement[bool]:
        """Return the condition on ``role`` that indexes serve: staff has no organization."""
        if role in (Role.OWNER, Role.STANDARD):
            of_members = cls.user_type == Role.STANDARD
            return of_members & (cls.is_owner if role is Role.OWNER else ~cls.is_owner)
        return cls.organization_id.is_(None) & (cls.user_type == role)


class PortalSession(Base):
    """A browser's session at one host. The cookie holds a token; only its hash is stored."""

    __tablename__ = "portal_sessions"
    __table_args__ = (Index("ix_portal_sessions_user_id_seen_at", "user_id", "seen_at"),)

    token_hash: Mapped[Hash] = mapped_column(primary_key=True)
    user_id: Mapped[UserId | None] = mapped_column(index=True)
    host: Mapped[Name]
    """The host name, without a port, that the session was started at."""
    data: Mapped[dict[str, Any]] = mapped_column(Json, default=dict)
    ip: Mapped[Short | None]
    user_agent: Mapped[Line | None]
    created_at: Mapped[Created]
    seen_at: Mapped[Created]
    expires_at: Mapped[Time] = mapped_column(index=True)
    factor: Mapped[Short | None]
    """The proof of the user's identity besides the password, a value of `Proof`; None for the
    password only."""
    proven_at: Mapped[Time | None]
    """When the user last proved their identity; None is the start of the session."""
    viewed_user_id: Mapped[UUID | None]
    """The user as which an operator views the portal in this session."""
    viewed_until: Mapped[Time | None]
    provider_id: Mapped[UUID | None] = mapped_column(index=True)
    """The identity provider of a sign-in with a company account, which may end the session."""
    provider_sid_hash: Mapped[Hash | None]
    """The hash of the session's id at the provider."""


class OfferedAccount(Base):
    """An account that one password opened together with others, until the user chooses one.

    The page holds one token and the browser's cookie another; both are stored as hashes, and the
    choice needs both. The rows of an offer share ``token_hash`` and end together.
    """

    __tablename__ = "offered_accounts"

    token_hash: Mapped[Hash] = mapped_column(primary_key=True)
    user_id: Mapped[UserId] = mapped_column(primary_key=True, index=True)
    browser_hash: Mapped[Hash] = mapped_column(index=True)
    expires_at: Mapped[Time] = mapped_column(index=True)


class EmailChange(Base):
    """A new email address that waits until it is confirmed at the old and at the new address.

    The tokens of the two links are created when their mails are rendered; only hashes are stored.
    """

    __tablename__ = "email_changes"

    id: Mapped[Id]
    user_id: Mapped[UserId] = mapped_column(unique=True)
    email: Mapped[Email]
    requested_by: Mapped[Name]
    requested_by_id: Mapped[UUID | None] = mapped_column(index=True)
    old_token_hash: Mapped[Hash | None] = mapped_column(unique=True)
    new_token_hash: Mapped[Hash | None] = mapped_column(unique=True)
    old_confirmed_at: Mapped[Time | None]
    new_confirmed_at: Mapped[Time | None]
    created_at: Mapped[Created]
    expires_at: Mapped[Time] = mapped_column(index=True)


class LinkPurpose(StrEnum):
    INVITATION = "invitation"
    SET_PASSWORD = "set_password"  # noqa: S105 - the name of a purpose
    RESET_PASSWORD = "reset_password"  # noqa: S105 - the name of a purpose


class OneTimeLink(Base):
    """An invitation or recovery link: single use, short-lived, stored as a hash."""

    __tablename__ = "one_time_links"

    token_hash: Mapped[Hash] = mapped_column(primary_key=True)
    user_id: Mapped[UserId] = mapped_column(index=True)
    purpose: Mapped[LinkPurpose] = mapped_column(enum_column(LinkPurpose))
    created_at: Mapped[Created]
    expires_at: Mapped[Time]
    used_at: Mapped[Time | None]


class ReadNotification(Base):
    """An entry of the history that a user has read, newer than `User.notifications_read_at`."""

    __tablename__ = "read_notifications"

    user_id: Mapped[UserId] = mapped_column(primary_key=True)
    entry_id: Mapped[UUID] = mapped_column(primary_key=True)
