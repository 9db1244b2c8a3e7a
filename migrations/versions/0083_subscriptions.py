"""Follow subscriptions at the payment processor, and charge usage to them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from migrations import policies

revision: str = "0083"
down_revision: str | Sequence[str] | None = "0079"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

UNCHARGED = sa.text("extra <> 0 AND invoice_item = ''")


def upgrade() -> None:
    op.create_table(
        "subscriptions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("reference", sa.String(length=100), nullable=False),
        sa.Column("customer", sa.String(length=100), nullable=False),
        sa.Column(
            "tier",
            _one_of(
                "tier",
                "customerFreePlan",
                "customerBasicPlan",
                "customerPlusPlan",
                "customerBasicFreeTrialPlan",
            ),
            nullable=False,
        ),
        sa.Column(
            "state", _one_of("subscriptionstate", "active", "overdue", "ended"), nullable=False
        ),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id", "organization_id"],
            ["organizations.partner_id", "organizations.id"],
            name=op.f("fk_subscriptions_partner_id_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_subscriptions")),
        sa.UniqueConstraint(
            "partner_id", "reference", name=op.f("uq_subscriptions_partner_id_reference")
        ),
    )
    organization = ["organization_id", "state"]
    op.create_index("ix_subscriptions_organization", "subscriptions", organization)
    op.create_index("ix_subscriptions_seen", "subscriptions", ["seen_at"])
    policies.by_partner("subscriptions", organization="organization_id")
    for column in (
        sa.Column("extra", sa.BigInteger(), nullable=True),
        sa.Column("invoice_item", sa.String(length=100), server_default="", nullable=False),
        sa.Column("charge_problem", sa.Text(), server_default="", nullable=False),
    ):
        op.add_column("statements", column)
    op.create_index(
        "ix_statements_uncharged",
        "statements",
        ["closed_at"],
        sqlite_where=UNCHARGED,
        postgresql_where=UNCHARGED,
    )


def downgrade() -> None:
    op.drop_index("ix_statements_uncharged", table_name="statements")
    for column in ("charge_problem", "invoice_item", "extra"):
        op.drop_column("statements", column)
    op.drop_table("subscriptions")


def _one_of(name: str, *values: str) -> sa.Enum:
    return sa.Enum(*values, name=name, native_enum=False, create_constraint=True, length=40)
