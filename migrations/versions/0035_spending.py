"""Add call rates, spending limits and what is used of them, and pauses of unusual calls."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from migrations import checks, policies

revision: str = "0035"
down_revision: str | Sequence[str] | None = "0034"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

REASON = "spend_cap_reached"
TABLES_WITH_REASONS = ("calls", "call_attempts")
OF_ATTEMPT = {
    "reserved_micros": sa.BigInteger(),
    "reserved_seconds": sa.Integer(),
    "charged_micros": sa.BigInteger(),
    "charged_seconds": sa.Integer(),
}


def upgrade() -> None:
    op.create_table(
        "call_rates",
        sa.Column("prefix", sa.String(100), nullable=False),
        sa.Column("micros_per_minute", sa.BigInteger(), nullable=False),
        sa.Column("setup_micros", sa.BigInteger(), nullable=False),
        sa.Column("minimum_seconds", sa.Integer(), nullable=False),
        sa.Column("increment_seconds", sa.Integer(), nullable=False),
        sa.Column("currency", sa.String(100), nullable=False),
        sa.CheckConstraint(
            "micros_per_minute >= 0 AND setup_micros >= 0 AND minimum_seconds >= 0"
            " AND increment_seconds > 0",
            name=op.f("ck_call_rates_amounts"),
        ),
        sa.PrimaryKeyConstraint("prefix", name=op.f("pk_call_rates")),
    )
    op.create_table(
        "spending_limits",
        sa.Column("scope", sa.String(100), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=True),
        sa.Column("api_key_id", sa.Uuid(), nullable=True),
        sa.Column("day_micros", sa.BigInteger(), nullable=True),
        sa.Column("month_micros", sa.BigInteger(), nullable=True),
        sa.Column("day_minutes", sa.Integer(), nullable=True),
        sa.Column("month_minutes", sa.Integer(), nullable=True),
        sa.Column("waits", sa.Boolean(), nullable=False),
        sa.Column("is_watched", sa.Boolean(), nullable=False),
        sa.Column("left_alone_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        *_owners("spending_limits"),
        sa.ForeignKeyConstraint(
            ["api_key_id"],
            ["api_keys.id"],
            name=op.f("fk_spending_limits_api_key_id_api_keys"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("scope", name=op.f("pk_spending_limits")),
    )
    op.create_index("ix_spending_limits_partner_id", "spending_limits", ["partner_id"])
    op.create_table(
        "spending_totals",
        sa.Column("scope", sa.String(100), nullable=False),
        sa.Column("period", sa.String(100), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=True),
        sa.Column("spent_micros", sa.BigInteger(), nullable=False),
        sa.Column("spent_seconds", sa.BigInteger(), nullable=False),
        sa.Column("reserved_micros", sa.BigInteger(), nullable=False),
        sa.Column("reserved_seconds", sa.BigInteger(), nullable=False),
        *_owners("spending_totals"),
        sa.PrimaryKeyConstraint("scope", "period", name=op.f("pk_spending_totals")),
    )
    op.create_index("ix_spending_totals_partner", "spending_totals", ["partner_id", "period"])
    for name, kind in OF_ATTEMPT.items():
        op.add_column("call_attempts", sa.Column(name, kind, server_default="0", nullable=False))
    for table in TABLES_WITH_REASONS:
        checks.allow(table, "ended_reason", "endedreason", REASON)
    op.create_table(
        "call_hours",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("hour", sa.DateTime(timezone=True), nullable=False),
        sa.Column("region", sa.String(100), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        _organization("call_hours"),
        sa.PrimaryKeyConstraint("organization_id", "hour", "region", name=op.f("pk_call_hours")),
    )
    op.create_index("ix_call_hours_hour", "call_hours", ["hour"])
    op.add_column("dialling_pauses", sa.Column("organization_id", sa.Uuid(), nullable=True))
    op.create_index("ix_dialling_pauses_organization_id", "dialling_pauses", ["organization_id"])
    for table in ("spending_limits", "spending_totals"):
        policies.by_partner(table)
    policies.by_partner("call_hours", organization="organization_id")


def downgrade() -> None:
    for table in TABLES_WITH_REASONS:
        op.execute(f"UPDATE {table} SET ended_reason = 'canceled' WHERE ended_reason = '{REASON}'")  # noqa: S608 - constants
        checks.forbid(table, "ended_reason", "endedreason", REASON)
    for name in OF_ATTEMPT:
        op.drop_column("call_attempts", name)
    op.execute("DELETE FROM dialling_pauses WHERE organization_id IS NOT NULL")
    op.drop_index("ix_dialling_pauses_organization_id", "dialling_pauses")
    op.drop_column("dialling_pauses", "organization_id")
    op.drop_table("call_hours")
    op.drop_table("spending_totals")
    op.drop_table("spending_limits")
    op.drop_table("call_rates")


def _owners(table: str) -> tuple[sa.ForeignKeyConstraint, ...]:
    return (
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f(f"fk_{table}_partner_id_partners"),
            ondelete="CASCADE",
        ),
        _organization(table),
    )


def _organization(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["partner_id", "organization_id"],
        ["organizations.partner_id", "organizations.id"],
        name=op.f(f"fk_{table}_partner_id_organization_id_organizations"),
        ondelete="CASCADE",
    )
