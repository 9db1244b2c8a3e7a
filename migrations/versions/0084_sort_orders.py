"""Add the indexes of more sort orders."""

from collections.abc import Sequence

from alembic import op

revision: str = "0084"
down_revision: str | Sequence[str] | None = "0083"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

INDEXES = {
    "ix_agents_partner_number": ("agents", "partner_id", "phone_number", "id"),
    "ix_contact_imports_partner_failed": ("contact_imports", "partner_id", "failed", "id"),
    "ix_contact_imports_partner_rows": ("contact_imports", "partner_id", "rows_total", "id"),
    "ix_do_not_call_created": ("do_not_call", "organization_id", "created_at", "phone"),
    "ix_organizations_partner_agents": ("organizations", "partner_id", "agent_limit", "id"),
    "ix_organizations_partner_users": ("organizations", "partner_id", "user_limit", "id"),
    "ix_users_partner_status": ("users", "partner_id", "status", "id"),
    "ix_webhook_endpoints_failing": ("webhook_endpoints", "partner_id", "failing_since", "id"),
}


def upgrade() -> None:
    for name, (table, *columns) in INDEXES.items():
        op.create_index(name, table, columns)


def downgrade() -> None:
    for name, (table, *_columns) in INDEXES.items():
        op.drop_index(name, table_name=table)
