"""Add sort names, contact counts and indexes of lists."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0009"
down_revision: str | Sequence[str] | None = "0008"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

NAMED = ("organizations", "agents", "campaigns")
LENGTH = 200
INDEXES = {
    "ix_organizations_partner_name": ("organizations", ["partner_id", "name_key", "id"]),
    "ix_agents_partner_name": ("agents", ["partner_id", "name_key", "id"]),
    "ix_agents_organization_name": (
        "agents",
        ["partner_id", "organization_id", "name_key", "id"],
    ),
    "ix_campaigns_partner_name": ("campaigns", ["partner_id", "name_key", "id"]),
    "ix_campaigns_organization_created": (
        "campaigns",
        ["partner_id", "organization_id", "created_at", "id"],
    ),
    "ix_users_organization_created": (
        "users",
        ["partner_id", "organization_id", "created_at", "id"],
    ),
    "ix_audit_entries_action": (
        "audit_entries",
        ["target_type", "target_id", "action", "id"],
    ),
}


def upgrade() -> None:
    for table in NAMED:
        key = sa.Column("name_key", sa.String(LENGTH), nullable=False, server_default="")
        op.add_column(table, key)
        _fill_keys(table)
    count = sa.Column("contact_count", sa.Integer(), nullable=False, server_default="0")
    op.add_column("campaigns", count)
    op.execute("""
        UPDATE campaigns SET contact_count =
            (SELECT count(*) FROM contacts WHERE contacts.campaign_id = campaigns.id)
    """)
    for name, (table, columns) in INDEXES.items():
        op.create_index(name, table, columns)
    op.drop_index("ix_agents_partner", "agents")


def _fill_keys(name: str) -> None:
    """Small letters as Python knows them: what a database takes for them depends on its locale."""
    table = sa.table(name, sa.column("id"), sa.column("name"), sa.column("name_key"))
    change = (
        sa.update(table).where(table.c.id == sa.bindparam("row")).values(name_key=sa.bindparam("k"))
    )
    connection = op.get_bind()
    rows = connection.execute(sa.select(table.c.id, table.c.name)).all()
    for start in range(0, len(rows), 1000):
        part = rows[start : start + 1000]
        connection.execute(
            change, [{"row": row.id, "k": row.name.lower()[:LENGTH]} for row in part]
        )


def downgrade() -> None:
    op.create_index("ix_agents_partner", "agents", ["partner_id"])
    for name, (table, _columns) in INDEXES.items():
        op.drop_index(name, table)
    # No batch: a copied table would drop what refers to it.
    op.drop_column("campaigns", "contact_count")
    for table in NAMED:
        op.drop_column(table, "name_key")
