"""Add trial mode and verified numbers; the trial of all that exist has ended."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from migrations import checks, policies

revision: str = "0034"
down_revision: str | Sequence[str] | None = "0033"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

REASON = "trial_mode"
SOURCE = "verification"


def upgrade() -> None:
    for table in ("partners", "organizations"):
        op.add_column(table, sa.Column("trial_ended_at", sa.DateTime(timezone=True), nullable=True))
        op.execute(f"UPDATE {table} SET trial_ended_at = CURRENT_TIMESTAMP")  # noqa: S608 - constants
    for table in ("calls", "call_attempts"):
        checks.allow(table, "ended_reason", "endedreason", REASON)
    checks.allow("calls", "source", "callsource", SOURCE)
    op.create_table(
        "daily_counts",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("subject", sa.String(length=100), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("day", "subject", name=op.f("pk_daily_counts")),
    )
    op.create_table(
        "verified_numbers",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("phone", sa.String(length=16), nullable=False),
        sa.Column(
            "purpose",
            sa.Enum(
                "call-trial",
                "caller-id",
                name="verificationpurpose",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("requested_by", sa.String(length=200), nullable=False),
        sa.Column("requested_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("call_id", sa.Uuid(), nullable=False),
        sa.Column("code_expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("wrong_codes", sa.Integer(), nullable=False),
        sa.Column("verified_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("verified_by", sa.String(length=200), nullable=True),
        sa.ForeignKeyConstraint(
            ["partner_id", "organization_id"],
            ["organizations.partner_id", "organizations.id"],
            name=op.f("fk_verified_numbers_partner_id_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_verified_numbers")),
        sa.UniqueConstraint(
            "organization_id",
            "phone",
            "purpose",
            name=op.f("uq_verified_numbers_organization_id_phone_purpose"),
        ),
    )
    policies.by_partner("verified_numbers", organization="organization_id")


def downgrade() -> None:
    op.drop_table("verified_numbers")
    op.drop_table("daily_counts")
    op.execute("DELETE FROM calls WHERE source = 'verification'")
    checks.forbid("calls", "source", "callsource", SOURCE)
    for table in ("calls", "call_attempts"):
        op.execute(f"UPDATE {table} SET ended_reason = 'canceled' WHERE ended_reason = '{REASON}'")  # noqa: S608 - constants
        checks.forbid(table, "ended_reason", "endedreason", REASON)
    for table in ("organizations", "partners"):
        op.execute(
            f"ALTER TABLE {table} DROP COLUMN trial_ended_at"
        )  # batch mode rebuilds the table
