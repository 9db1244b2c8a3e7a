"""Credentials of scripts: OAuth clients, API keys, and the keys that sign tokens."""

from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, ColumnElement, ForeignKey, Index, Text, false, func
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import Mapped, mapped_column

from app.enums import Area, Role
from app.models.base import (
    Base,
    Created,
    Hash,
    Id,
    Json,
    Name,
    Named,
    PartnerId,
    Short,
    Time,
    enum_column,
    tenant_key,
    utcnow,
)


class ScriptCredential:
    """Columns that clients, API keys and SCIM tokens share. Only a hash of the secret is stored."""

    id: Mapped[Id]
    secret_hash: Mapped[Hash]
    created_by: Mapped[Name]
    responsible_id: Mapped[UUID | None] = mapped_column(index=True)
    """The user who created it, got its last secret or took it over."""
    created_at: Mapped[Created]
    expires_at: Mapped[Time | None]
    end_notice: Mapped[int | None]
    """The last mail about the end, as the number of days before it."""
    revoked_at: Mapped[Time | None]
    last_used_at: Mapped[Time | None]

    @hybrid_property
    def is_over(self) -> bool:
        """Whether it was revoked, or its end has passed."""
        ended = self.expires_at is not None and self.expires_at <= utcnow()
        return ended or self.revoked_at is not None

    @is_over.inplace.expression
    @classmethod
    def _is_over(cls) -> ColumnElement[bool]:
        ended = func.coalesce(cls.expires_at <= utcnow(), false())
        return ended | cls.revoked_at.is_not(None)


class OAuthClient(ScriptCredential, Named, Base):
    """A client of the token endpoint: Area A with a role, or Area B for one organization."""

    __tablename__ = "oauth_clients"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        Index("ix_oauth_clients_partner", "partner_id", "created_at"),
        CheckConstraint(
            "(area = 'A' AND role IS NOT NULL AND organization_id IS NULL)"
            " OR (area = 'B' AND role IS NULL AND organization_id IS NOT NULL)",
            name="area_owner",
        ),
    )

    partner_id: Mapped[PartnerId | None]
    organization_id: Mapped[UUID | None]
    area: Mapped[Area] = mapped_column(enum_column(Area))
    role: Mapped[Role | None] = mapped_column(enum_column(Role))
    client_id: Mapped[Short] = mapped_column(unique=True)
    suspended_at: Mapped[Time | None]
    previous_secret_hash: Mapped[Hash | None]
    previous_until: Mapped[Time | None]
    """Until then, the secret from before the last rotation is accepted too."""
    is_limited: Mapped[bool] = mapped_column(default=False, server_default=false())
    """For the role admin only: whether it sees only the organizations of its groups."""
    served_until: Mapped[Time | None]
    """Area B only: the end of the extension that the operator gave, if any."""


class ApiKey(ScriptCredential, Named, Base):
    """An Area C key of one organization."""

    __tablename__ = "api_keys"
    __table_args__ = (
        tenant_key("organizations", "partner_id", "organization_id"),
        Index("ix_api_keys_organization", "organization_id", "created_at"),
    )

    partner_id: Mapped[UUID]
    organization_id: Mapped[UUID]
    public_id: Mapped[Short] = mapped_column(unique=True)
    live: Mapped[bool]
    scopes: Mapped[list[str]] = mapped_column(Json)
    replaced_by: Mapped[UUID | None] = mapped_column(ForeignKey("api_keys.id"))


class SigningKey(Base):
    """A key pair that signs tokens; the private half is encrypted with the application's key."""

    __tablename__ = "signing_keys"

    kid: Mapped[Short] = mapped_column(primary_key=True)
    private_key: Mapped[str] = mapped_column(Text)
    public_jwk: Mapped[dict[str, Any]] = mapped_column(Json)
    created_at: Mapped[Created]
    retired_at: Mapped[Time | None]


class RevokedToken(Base):
    """An access token revoked before its end (RFC 7009); kept until it would have expired."""

    __tablename__ = "revoked_tokens"

    jti: Mapped[Short] = mapped_column(primary_key=True)
    expires_at: Mapped[Time] = mapped_column(index=True)


class IdempotencyRecord(Base):
    """The answer to an accepted request, so that repeating the request changes nothing."""

    __tablename__ = "idempotency_records"

    credential_id: Mapped[UUID] = mapped_column(primary_key=True)
    operation: Mapped[Short] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(Text, primary_key=True)
    request_hash: Mapped[Hash]
    response: Mapped[dict[str, Any] | None] = mapped_column(Json)
    status: Mapped[int | None]  # unused: it was always 200
    created_at: Mapped[Created] = mapped_column(index=True)
