"""Add the versions of plans, partners' accounts at the payment processor, and checkouts there."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations import policies

revision: str = "0041"
down_revision: str | Sequence[str] | None = "0040"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

JSON_TYPE = sa.JSON(none_as_null=True).with_variant(
    postgresql.JSONB(none_as_null=True), "postgresql"
)
TIER = sa.Enum(
    "customerFreePlan",
    "customerBasicPlan",
    "customerPlusPlan",
    "customerBasicFreeTrialPlan",
    name="tier",
    native_enum=False,
    create_constraint=True,
    length=40,
)
DRAFT = sa.text("published_at IS NULL")


def upgrade() -> None:
    op.create_table(
        "plan_versions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("plans", JSON_TYPE, nullable=False),
        sa.Column("author", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("send_problem", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_plan_versions_partner_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plan_versions")),
        sa.UniqueConstraint(
            "partner_id", "number", name=op.f("uq_plan_versions_partner_id_number")
        ),
    )
    op.create_index(
        "uq_plan_versions_draft",
        "plan_versions",
        ["partner_id"],
        unique=True,
        sqlite_where=DRAFT,
        postgresql_where=DRAFT,
    )
    op.create_table(
        "processor_accounts",
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.String(length=100), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("webhook_secret", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("test_asked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("works", sa.Boolean(), nullable=True),
        sa.Column("words", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_processor_accounts_partner_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("partner_id", name=op.f("pk_processor_accounts")),
    )
    op.create_table(
        "checkouts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("tier", TIER, nullable=False),
        sa.Column("back_url", sa.String(length=2000), nullable=False),
        sa.Column("url", sa.String(length=2000), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("paid_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_checkouts_partner_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["partner_id", "organization_id"],
            ["organizations.partner_id", "organizations.id"],
            name=op.f("fk_checkouts_partner_id_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_checkouts")),
    )
    op.create_index(op.f("ix_checkouts_partner_id"), "checkouts", ["partner_id"])
    policies.by_partner("plan_versions")
    policies.by_partner("processor_accounts")
    policies.by_partner("checkouts", organization="organization_id")
    op.add_column("processor_prices", sa.Column("interval", sa.String(length=100), nullable=True))


def downgrade() -> None:
    op.drop_column("processor_prices", "interval")
    op.drop_table("checkouts")
    op.drop_table("processor_accounts")
    op.drop_table("plan_versions")
