"""Add the cost of calls by day."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0021"
down_revision: str | Sequence[str] | None = "0017"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

DAY = {
    "sqlite": "substr(a.started_at, 1, 10)",
    "postgresql": "date(timezone('UTC', a.started_at))",
}


def upgrade() -> None:
    op.create_table(
        "cost_days",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("currency", sa.String(length=100), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("micros", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id", "organization_id"],
            ["organizations.partner_id", "organizations.id"],
            name=op.f("fk_cost_days_partner_id_organization_id_organizations"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", "day", "currency", name=op.f("pk_cost_days")),
    )
    op.create_index("ix_cost_days_partner", "cost_days", ["partner_id", "day"])
    op.create_table(
        "partner_cost_days",
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("currency", sa.String(length=100), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("micros", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_partner_cost_days_partner_id_partners"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("partner_id", "day", "currency", name=op.f("pk_partner_cost_days")),
    )
    day = DAY[op.get_bind().dialect.name]
    op.execute(f"""
        INSERT INTO cost_days (organization_id, day, currency, partner_id, attempts, micros)
        SELECT c.organization_id, {day}, coalesce(a.cost_currency, 'XXX'), c.partner_id, count(*),
            sum(CAST(round(a.cost * 1000000) AS BIGINT))
        FROM call_attempts a JOIN calls c ON c.id = a.call_id WHERE a.cost IS NOT NULL
        GROUP BY c.organization_id, {day}, coalesce(a.cost_currency, 'XXX'), c.partner_id
    """)  # noqa: S608 - both parts are written above
    op.execute("""
        INSERT INTO partner_cost_days (partner_id, day, currency, attempts, micros)
        SELECT partner_id, day, currency, sum(attempts), sum(micros)
        FROM cost_days GROUP BY partner_id, day, currency
    """)


def downgrade() -> None:
    op.drop_table("partner_cost_days")
    op.drop_index("ix_cost_days_partner", table_name="cost_days")
    op.drop_table("cost_days")
