"""Add carrier accounts, and which of them a call used."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0022"
down_revision: str | Sequence[str] | None = "0021"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

IN_USE = sa.text("removed_at IS NULL")


def upgrade() -> None:
    op.create_table(
        "carrier_accounts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=True),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column(
            "carrier",
            sa.Enum(
                "simulator",
                "sip",
                "twilio",
                name="carrierkind",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("sid", sa.String(length=100), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_by", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_carrier_accounts_partner_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_carrier_accounts_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_carrier_accounts")),
    )
    for column in ("partner_id", "organization_id"):
        op.create_index(op.f(f"ix_carrier_accounts_{column}"), "carrier_accounts", [column])
    op.create_index(
        "uq_carrier_accounts_owner",
        "carrier_accounts",
        ["owner_id"],
        unique=True,
        sqlite_where=IN_USE,
        postgresql_where=IN_USE,
    )
    for table in ("calls", "call_attempts"):
        op.add_column(table, sa.Column("account_id", sa.Uuid(), nullable=True))


def downgrade() -> None:
    # No batch: a copied table would drop what refers to it.
    for table in ("call_attempts", "calls"):
        op.drop_column(table, "account_id")
    op.drop_table("carrier_accounts")
