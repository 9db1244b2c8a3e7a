"""Keep the exports of lists that the worker writes."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from migrations import policies

revision: str = "0066"
down_revision: str | Sequence[str] | None = "0065"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROLES = ("operator", "partnerAdmin", "partnerEditor", "admin", "owner", "standard")
PROBLEMS = ("no-access", "too-many-rows", "too-large", "failed")


def upgrade() -> None:
    op.create_table(
        "list_exports",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=True),
        sa.Column("organization_id", sa.Uuid(), nullable=True),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("role", _one_of("role", *ROLES), nullable=False),
        sa.Column("list_name", sa.String(100), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("zone", sa.String(100), nullable=False),
        sa.Column("file_format", _one_of("exportformat", "csv", "xlsx"), nullable=False),
        sa.Column("state", _one_of("exportstate", "waiting", "ready", "failed"), nullable=False),
        sa.Column("problem", _one_of("exportproblem", *PROBLEMS), nullable=True),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("file_key", sa.String(200), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_list_exports_partner_id_partners"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
            name=op.f("fk_list_exports_user_id_users"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["partner_id", "organization_id"],
            ["organizations.partner_id", "organizations.id"],
            name=op.f("fk_list_exports_partner_id_organization_id_organizations"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["partner_id", "user_id"],
            ["users.partner_id", "users.id"],
            name=op.f("fk_list_exports_partner_id_user_id_users"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_list_exports")),
    )
    op.create_index("ix_list_exports_user", "list_exports", ["user_id", "id"])
    op.create_index("ix_list_exports_expires", "list_exports", ["expires_at"])
    op.create_index("ix_list_exports_file_key", "list_exports", ["file_key"])
    policies.by_partner("list_exports", organization="organization_id")


def downgrade() -> None:
    op.drop_table("list_exports")


def _one_of(name: str, *values: str) -> sa.Enum:
    return sa.Enum(*values, name=name, native_enum=False, create_constraint=True, length=40)
