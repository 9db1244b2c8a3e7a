"""Sign-in with a company account: OpenID Connect providers of a partner and their users."""

from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from app.models.base import (
    Base,
    Created,
    Hash,
    Id,
    Json,
    Line,
    Name,
    PartnerId,
    Time,
    Updated,
    Url,
    UserId,
)


class IdentityProvider(Base):
    """An OpenID Connect provider at which a partner's users sign in. The client secret is
    encrypted.

    The issuer never changes: the subjects of the links have a meaning only there.
    """

    __tablename__ = "identity_providers"
    __table_args__ = (UniqueConstraint("partner_id", "issuer", "client_id"),)

    id: Mapped[Id]
    partner_id: Mapped[PartnerId] = mapped_column(index=True)
    name: Mapped[Name]
    issuer: Mapped[Line]
    client_id: Mapped[Line]
    secret: Mapped[str] = mapped_column(Text)
    domains: Mapped[list[str]] = mapped_column(Json, default=list)
    """Email domains whose verified addresses are linked to users, in lower case."""
    creates_users: Mapped[bool] = mapped_column(default=False, server_default=false())
    default_role: Mapped[Name | None]
    """The role of a new user whose claim maps to no role; None creates no such user."""
    role_claim: Mapped[Name | None]
    role_values: Mapped[dict[str, Any]] = mapped_column(Json, default=dict)
    """The value of the claim, by role."""
    required_for_staff: Mapped[bool] = mapped_column(default=False, server_default=false())
    version: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[Created]
    updated_at: Mapped[Updated]


class UserIdentity(Base):
    """The link between a user and the subject by which a provider knows them."""

    __tablename__ = "user_identities"
    __table_args__ = (
        UniqueConstraint("provider_id", "subject"),
        UniqueConstraint("provider_id", "user_id"),
    )

    id: Mapped[Id]
    provider_id: Mapped[UUID] = mapped_column(
        ForeignKey("identity_providers.id", ondelete="CASCADE")
    )
    user_id: Mapped[UserId] = mapped_column(index=True)
    subject: Mapped[Line]
    created_at: Mapped[Created]
    used_at: Mapped[Time | None]


class IdentityRequest(Base):
    """A request to a provider that waits for its answer: used once, by the browser that made it.

    The browser's cookie holds the token from which the nonce and the PKCE verifier come; only its
    hash is stored. With ``user_id`` the answer links the account to that user.
    """

    __tablename__ = "identity_requests"

    state_hash: Mapped[Hash] = mapped_column(primary_key=True)
    provider_id: Mapped[UUID] = mapped_column(
        ForeignKey("identity_providers.id", ondelete="CASCADE"), index=True
    )
    browser_hash: Mapped[Hash]
    user_id: Mapped[UserId | None] = mapped_column(index=True)
    redirect_uri: Mapped[Url]
    next_path: Mapped[Url]
    needs_fresh_sign_in: Mapped[bool] = mapped_column(
        "again", default=False, server_default=false()
    )
    """Whether the user must sign in at the provider after the start of this request."""
    expires_at: Mapped[Time] = mapped_column(index=True)


class IdentitySignOut(Base):
    """A logout token that was received, kept until it expires: a second time it has no effect."""

    __tablename__ = "identity_sign_outs"

    token_hash: Mapped[Hash] = mapped_column(primary_key=True)
    provider_id: Mapped[UUID] = mapped_column(
        ForeignKey("identity_providers.id", ondelete="CASCADE"), index=True
    )
    expires_at: Mapped[Time] = mapped_column(index=True)
