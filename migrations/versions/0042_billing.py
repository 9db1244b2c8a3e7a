"""Add the billable usage of each day, statements of closed months, and budgets."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations import policies

revision: str = "0042"
down_revision: str | Sequence[str] | None = "0041"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

JSON_TYPE = sa.JSON(none_as_null=True).with_variant(
    postgresql.JSONB(none_as_null=True), "postgresql"
)
OF_ATTEMPT = {"billed_minutes": sa.Integer(), "estimated_micros": sa.BigInteger()}
TIERS = (
    "customerFreePlan",
    "customerBasicPlan",
    "customerPlusPlan",
    "customerBasicFreeTrialPlan",
)


def upgrade() -> None:
    op.create_table(
        "billing_days",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("currency", sa.String(100), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("minutes", sa.Integer(), nullable=False),
        sa.Column("reported_micros", sa.BigInteger(), nullable=False),
        sa.Column("estimated_micros", sa.BigInteger(), nullable=False),
        _organization("billing_days"),
        sa.PrimaryKeyConstraint(
            "organization_id", "day", "campaign_id", "currency", name=op.f("pk_billing_days")
        ),
    )
    op.create_index("ix_billing_days_partner", "billing_days", ["partner_id", "day"])
    op.create_table(
        "statements",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("month", sa.Date(), nullable=False),
        sa.Column(
            "tier",
            sa.Enum(*TIERS, name="tier", native_enum=False, create_constraint=True, length=40),
            nullable=False,
        ),
        sa.Column("plan_name", sa.String(100), nullable=False),
        sa.Column("currency", sa.String(100), nullable=False),
        sa.Column("lines", JSON_TYPE, nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("settled", sa.BigInteger(), nullable=False),
        sa.Column("charged_from", sa.Date(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=False),
        _organization("statements"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_statements")),
        sa.UniqueConstraint(
            "organization_id", "month", name=op.f("uq_statements_organization_id_month")
        ),
        sa.UniqueConstraint("partner_id", "number", name=op.f("uq_statements_partner_id_number")),
    )
    op.create_index("ix_statements_partner", "statements", ["partner_id", "month"])
    for table in ("billing_days", "statements"):
        policies.by_partner(table, organization="organization_id")
    for name, number in OF_ATTEMPT.items():
        op.add_column("call_attempts", sa.Column(name, number, server_default="0", nullable=False))
    op.add_column("spending_limits", sa.Column("budget_micros", sa.BigInteger(), nullable=True))
    op.add_column("spending_limits", sa.Column("budget_alert", sa.String(100), nullable=True))


def downgrade() -> None:
    op.drop_column("spending_limits", "budget_alert")
    op.drop_column("spending_limits", "budget_micros")
    for name in OF_ATTEMPT:
        op.drop_column("call_attempts", name)
    op.drop_table("statements")
    op.drop_table("billing_days")


def _organization(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["partner_id", "organization_id"],
        ["organizations.partner_id", "organizations.id"],
        name=op.f(f"fk_{table}_partner_id_organization_id_organizations"),
        ondelete="CASCADE",
    )
