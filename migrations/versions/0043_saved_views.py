"""Save views of lists."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from migrations import policies

revision: str = "0043"
down_revision: str | Sequence[str] | None = "0042"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

INDEXES = (
    ("ix_campaigns_partner_contacts", "campaigns", "contact_count"),
    ("ix_campaigns_partner_status", "campaigns", "status"),
    ("ix_contact_imports_partner_file", "contact_imports", "file_name"),
    ("ix_organizations_partner_status", "organizations", "status"),
    ("ix_users_partner_last_sign_in", "users", "last_login"),
    ("ix_users_partner_name", "users", "name"),
)


def upgrade() -> None:
    op.create_table(
        "saved_views",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=True),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("list_name", sa.String(100), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("query", sa.String(2000), nullable=False),
        sa.Column("is_shared", sa.Boolean(), nullable=False),
        sa.Column("is_default", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_saved_views_partner_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["partner_id", "organization_id"],
            ["organizations.partner_id", "organizations.id"],
            name=op.f("fk_saved_views_partner_id_organization_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["partner_id", "user_id"],
            ["users.partner_id", "users.id"],
            name=op.f("fk_saved_views_partner_id_user_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_saved_views")),
    )
    op.create_index("ix_saved_views_list", "saved_views", ["partner_id", "list_name"])
    policies.by_partner("saved_views", organization="organization_id")
    for name, table, column in INDEXES:
        op.create_index(name, table, ["partner_id", column, "id"])


def downgrade() -> None:
    for name, table, _column in INDEXES:
        op.drop_index(name, table_name=table)
    op.drop_table("saved_views")
