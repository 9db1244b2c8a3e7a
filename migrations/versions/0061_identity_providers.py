"""Sign-in with a company account: providers, links of users, requests and logouts."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from app.models.base import Json, UtcDateTime
from migrations import policies

revision: str = "0061"
down_revision: str | Sequence[str] | None = "0060"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

OF_PROVIDER = ("user_identities", "identity_requests", "identity_sign_outs")
"""Read and written only within the partner of the provider."""


def upgrade() -> None:
    op.create_table(
        "identity_providers",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("issuer", sa.String(500), nullable=False),
        sa.Column("client_id", sa.String(500), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("domains", Json, nullable=False),
        sa.Column("creates_users", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("default_role", sa.String(200), nullable=True),
        sa.Column("role_claim", sa.String(200), nullable=True),
        sa.Column("role_values", Json, nullable=False),
        sa.Column("required_for_staff", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_identity_providers_partner_id_partners"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_identity_providers")),
        sa.UniqueConstraint(
            "partner_id",
            "issuer",
            "client_id",
            name=op.f("uq_identity_providers_partner_id_issuer_client_id"),
        ),
    )
    op.create_index(op.f("ix_identity_providers_partner_id"), "identity_providers", ["partner_id"])
    op.create_table(
        "user_identities",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("provider_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("subject", sa.String(500), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("used_at", UtcDateTime(), nullable=True),
        _of_provider("user_identities"),
        _of_user("user_identities"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_user_identities")),
        sa.UniqueConstraint(
            "provider_id", "subject", name=op.f("uq_user_identities_provider_id_subject")
        ),
        sa.UniqueConstraint(
            "provider_id", "user_id", name=op.f("uq_user_identities_provider_id_user_id")
        ),
    )
    op.create_index(op.f("ix_user_identities_user_id"), "user_identities", ["user_id"])
    op.create_table(
        "identity_requests",
        sa.Column("state_hash", sa.String(64), nullable=False),
        sa.Column("provider_id", sa.Uuid(), nullable=False),
        sa.Column("browser_hash", sa.String(64), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("redirect_uri", sa.String(2000), nullable=False),
        sa.Column("next_path", sa.String(2000), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        _of_provider("identity_requests"),
        _of_user("identity_requests"),
        sa.PrimaryKeyConstraint("state_hash", name=op.f("pk_identity_requests")),
    )
    for column in ("expires_at", "provider_id", "user_id"):
        op.create_index(op.f(f"ix_identity_requests_{column}"), "identity_requests", [column])
    op.create_table(
        "identity_sign_outs",
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("provider_id", sa.Uuid(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        _of_provider("identity_sign_outs"),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_identity_sign_outs")),
    )
    for column in ("expires_at", "provider_id"):
        op.create_index(op.f(f"ix_identity_sign_outs_{column}"), "identity_sign_outs", [column])
    op.add_column("portal_sessions", sa.Column("provider_id", sa.Uuid(), nullable=True))
    op.add_column("portal_sessions", sa.Column("provider_sid_hash", sa.String(64), nullable=True))
    op.create_index(op.f("ix_portal_sessions_provider_id"), "portal_sessions", ["provider_id"])
    policies.by_partner("identity_providers")
    policies.allow_authentication("identity_providers", "SELECT")
    for table in OF_PROVIDER:
        policies.by_parent(table, "provider_id", "identity_providers")


def downgrade() -> None:
    op.drop_index(op.f("ix_portal_sessions_provider_id"), "portal_sessions")
    op.drop_column("portal_sessions", "provider_sid_hash")
    op.drop_column("portal_sessions", "provider_id")
    for table in reversed(OF_PROVIDER):
        op.drop_table(table)
    op.drop_table("identity_providers")


def _of_provider(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["provider_id"],
        ["identity_providers.id"],
        name=op.f(f"fk_{table}_provider_id_identity_providers"),
        ondelete="CASCADE",
    )


def _of_user(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["user_id"], ["users.id"], name=op.f(f"fk_{table}_user_id_users"), ondelete="CASCADE"
    )
