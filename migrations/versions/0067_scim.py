"""Provision users from a partner's directory: tokens, choices, users, groups and members."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from app.models.base import UtcDateTime
from migrations import policies

revision: str = "0067"
down_revision: str | Sequence[str] | None = "0066"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLES = ("scim_tokens", "scim_settings", "scim_users", "scim_groups", "scim_members")


def upgrade() -> None:
    op.create_table(
        "scim_tokens",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("public_id", sa.String(100), nullable=False),
        sa.Column("secret_hash", sa.String(64), nullable=False),
        sa.Column("created_by", sa.String(200), nullable=False),
        sa.Column("responsible_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=True),
        sa.Column("revoked_at", UtcDateTime(), nullable=True),
        sa.Column("last_used_at", UtcDateTime(), nullable=True),
        sa.Column("replaced_by", sa.Uuid(), nullable=True),
        _of_partner("scim_tokens"),
        sa.ForeignKeyConstraint(
            ["replaced_by"],
            ["scim_tokens.id"],
            name=op.f("fk_scim_tokens_replaced_by_scim_tokens"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scim_tokens")),
        sa.UniqueConstraint("public_id", name=op.f("uq_scim_tokens_public_id")),
    )
    op.create_index("ix_scim_tokens_partner", "scim_tokens", ["partner_id", "created_at"])
    op.create_index(op.f("ix_scim_tokens_responsible_id"), "scim_tokens", ["responsible_id"])
    op.create_table(
        "scim_settings",
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("default_role", _role(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        _of_partner("scim_settings"),
        sa.PrimaryKeyConstraint("partner_id", name=op.f("pk_scim_settings")),
    )
    op.create_table(
        "scim_users",
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("external_id", sa.String(200), nullable=True),
        sa.Column("given_name", sa.String(200), nullable=True),
        sa.Column("family_name", sa.String(200), nullable=True),
        sa.Column("waits_for_role", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("removed_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        _within("scim_users", "user_id", "users"),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_scim_users")),
    )
    op.create_index("ix_scim_users_external_id", "scim_users", ["partner_id", "external_id"])
    op.create_table(
        "scim_groups",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("display_name", sa.String(200), nullable=False),
        sa.Column("display_key", sa.String(200), nullable=False),
        sa.Column("external_id", sa.String(200), nullable=True),
        sa.Column("role", _role(), nullable=True),
        sa.Column("organization_id", sa.Uuid(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        _of_partner("scim_groups"),
        _within("scim_groups", "organization_id", "organizations"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scim_groups")),
        sa.UniqueConstraint("partner_id", "id", name=op.f("uq_scim_groups_partner_id_id")),
        sa.UniqueConstraint(
            "partner_id", "display_key", name=op.f("uq_scim_groups_partner_id_display_key")
        ),
    )
    op.create_table(
        "scim_members",
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        _within("scim_members", "group_id", "scim_groups"),
        _within("scim_members", "user_id", "users"),
        sa.PrimaryKeyConstraint("group_id", "user_id", name=op.f("pk_scim_members")),
    )
    op.create_index("ix_scim_members_user_id", "scim_members", ["user_id"])
    for table in TABLES:
        policies.by_partner(table)
    policies.allow_authentication("scim_tokens", "SELECT")


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)


def _role() -> sa.Enum:
    return sa.Enum(
        "operator",
        "partnerAdmin",
        "partnerEditor",
        "admin",
        "owner",
        "standard",
        name="role",
        native_enum=False,
        create_constraint=True,
        length=40,
    )


def _of_partner(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["partner_id"],
        ["partners.id"],
        name=op.f(f"fk_{table}_partner_id_partners"),
        ondelete="CASCADE",
    )


def _within(table: str, column: str, parent: str) -> sa.ForeignKeyConstraint:
    """A key with the partner: a row can't refer to another partner's."""
    return sa.ForeignKeyConstraint(
        ["partner_id", column],
        [f"{parent}.partner_id", f"{parent}.id"],
        name=op.f(f"fk_{table}_partner_id_{column}_{parent}"),
        ondelete="CASCADE",
    )
