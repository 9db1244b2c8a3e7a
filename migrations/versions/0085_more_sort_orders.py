"""Sort calls by length and cost, and contacts by name and status; keep when subscriptions ended."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision: str = "0085"
down_revision: str | Sequence[str] | None = "0084"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

COLUMNS: dict[str, tuple[sa.Column[Any], ...]] = {
    "calls": (
        sa.Column("seconds", sa.Integer(), nullable=True),
        sa.Column("cost_micros", sa.BigInteger(), nullable=True),
    ),
    "subscriptions": (sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),),
    "checkouts": (sa.Column("customer", sa.String(length=100), server_default="", nullable=False),),
}
TENANTS: dict[str, list[str]] = {
    "_partner": ["partner_id"],
    "_organization": ["organization_id"],
    "": [],
}
CALL_INDEXES = {
    f"ix_calls{name}_{column}": [*tenant, column, "id"]
    for column in ("seconds", "cost_micros")
    for name, tenant in TENANTS.items()
}
SECONDS = {
    "postgresql": "round(extract(epoch FROM ended_at - answered_at))",
    "sqlite": "round((julianday(ended_at) - julianday(answered_at)) * 86400)",
}
NAME = "nullif(ltrim(substr(search_name, 1, 64)), '')"


def upgrade() -> None:
    for table, columns in COLUMNS.items():
        for column in columns:
            op.add_column(table, column)
    _fill()
    for name, columns_of in CALL_INDEXES.items():
        has_value = sa.text(f"{columns_of[-2]} IS NOT NULL")
        op.create_index(
            name, "calls", columns_of, sqlite_where=has_value, postgresql_where=has_value
        )
    # SQLite can't add a stored one, PostgreSQL has no other.
    is_stored = op.get_bind().dialect.name == "postgresql"
    computed = sa.Computed(NAME, persisted=is_stored)
    op.add_column("contacts", sa.Column("sort_name", sa.Text(), computed))
    op.create_index("ix_contacts_campaign_name", "contacts", ["campaign_id", "sort_name", "id"])
    has_status = sa.text("status IS NOT NULL")
    op.create_index(
        "ix_contacts_campaign_status",
        "contacts",
        ["campaign_id", "status", "id"],
        sqlite_where=has_status,
        postgresql_where=has_status,
    )


def downgrade() -> None:
    for name in ("ix_contacts_campaign_status", "ix_contacts_campaign_name"):
        op.drop_index(name, table_name="contacts")
    op.drop_column("contacts", "sort_name")
    for name in CALL_INDEXES:
        op.drop_index(name, table_name="calls")
    for table, columns in COLUMNS.items():
        for column in reversed(columns):
            op.drop_column(table, column.name)


def _fill() -> None:
    seconds = SECONDS[op.get_bind().dialect.name]
    op.execute(
        f"UPDATE calls SET seconds = CASE WHEN ended_at > answered_at THEN {seconds} ELSE 0 END"  # noqa: S608 - constants
        " WHERE ended_at IS NOT NULL AND answered_at IS NOT NULL"
    )
    op.execute(
        "UPDATE calls SET cost_micros = (SELECT round(sum(cost) * 1000000) FROM call_attempts"
        " WHERE call_id = calls.id AND cost IS NOT NULL)"
        " WHERE id IN (SELECT call_id FROM call_attempts WHERE cost IS NOT NULL)"
    )
