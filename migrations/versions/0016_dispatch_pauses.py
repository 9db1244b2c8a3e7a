"""Add pauses of calling, the calls they hold, and the installation mark."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0018"
down_revision: str | Sequence[str] | None = "0016"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "dialling_pauses",
        sa.Column("scope", sa.String(length=100), nullable=False),
        sa.Column("carrier", _carrier(), nullable=True),
        sa.Column("partner_id", sa.Uuid(), nullable=True),
        sa.Column("reason", sa.String(length=500), nullable=False),
        sa.Column("paused_by", sa.String(length=200), nullable=False),
        sa.Column("paused_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_dialling_pauses_partner_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("scope", name=op.f("pk_dialling_pauses")),
    )
    op.create_index(op.f("ix_dialling_pauses_partner_id"), "dialling_pauses", ["partner_id"])
    op.create_table(
        "held_calls",
        sa.Column("call_id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("carrier", _carrier(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("held_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["call_id"], ["calls.id"], name=op.f("fk_held_calls_call_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("call_id", name=op.f("pk_held_calls")),
    )
    op.create_table(
        "installation_marks",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("lineage", sa.String(length=100), nullable=False),
        sa.Column("generation", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_installation_marks")),
    )


def downgrade() -> None:
    op.drop_table("installation_marks")
    op.drop_table("held_calls")
    op.drop_table("dialling_pauses")


def _carrier() -> sa.Enum:
    return sa.Enum(
        "simulator",
        "sip",
        "twilio",
        name="carrierkind",
        native_enum=False,
        create_constraint=True,
        length=40,
    )
