"""Limit admins and API clients to groups of organizations."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from migrations import policies

revision: str = "0076"
down_revision: str | Sequence[str] | None = "0075"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "organization_groups",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("name_key", sa.String(200), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_organization_groups_partner_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_organization_groups")),
        sa.UniqueConstraint("partner_id", "id", name=op.f("uq_organization_groups_partner_id_id")),
        sa.UniqueConstraint(
            "partner_id", "name_key", name=op.f("uq_organization_groups_partner_id_name_key")
        ),
    )
    op.create_table(
        "grouped_organizations",
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        _of_group("grouped_organizations"),
        sa.ForeignKeyConstraint(
            ["partner_id", "organization_id"],
            ["organizations.partner_id", "organizations.id"],
            name=op.f("fk_grouped_organizations_partner_id_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "group_id", "organization_id", name=op.f("pk_grouped_organizations")
        ),
    )
    op.create_index(
        "ix_grouped_organizations_organization", "grouped_organizations", ["organization_id"]
    )
    op.create_table(
        "group_limits",
        sa.Column("subject_id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        _of_group("group_limits"),
        sa.PrimaryKeyConstraint("subject_id", "group_id", name=op.f("pk_group_limits")),
    )
    for table in ("users", "oauth_clients"):
        limited: sa.Column[bool] = sa.Column(
            "is_limited", sa.Boolean(), nullable=False, server_default=sa.false()
        )
        op.add_column(table, limited)
    for table in ("organization_groups", "grouped_organizations", "group_limits"):
        policies.by_partner(table)


def downgrade() -> None:
    for table in ("users", "oauth_clients"):
        op.drop_column(table, "is_limited")
    for table in ("group_limits", "grouped_organizations", "organization_groups"):
        op.drop_table(table)


def _of_group(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["partner_id", "group_id"],
        ["organization_groups.partner_id", "organization_groups.id"],
        name=op.f(f"fk_{table}_partner_id_group_id"),
        ondelete="CASCADE",
    )
