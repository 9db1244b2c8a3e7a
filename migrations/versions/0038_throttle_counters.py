"""Count failed attempts by account, network and installation, and refusals for the history.

The table ``failed_sign_ins`` stays for processes of the version before; nothing reads it any more.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from app.models.base import Json
from migrations import policies

revision: str = "0038"
down_revision: str | Sequence[str] | None = "0036"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "throttle_counters",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("failures", sa.Float(), nullable=False),
        sa.Column("counted_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_throttle_counters")),
    )
    op.create_index(op.f("ix_throttle_counters_counted_at"), "throttle_counters", ["counted_at"])
    op.create_table(
        "refusal_counts",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=True),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("written", sa.Integer(), nullable=False),
        sa.Column("entry", Json, nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_refusal_counts_partner_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_refusal_counts")),
    )
    for column in ("partner_id", "since"):
        op.create_index(op.f(f"ix_refusal_counts_{column}"), "refusal_counts", [column])
    policies.by_partner("refusal_counts")
    policies.allow_authentication("refusal_counts", "ALL")


def downgrade() -> None:
    policies.remove("refusal_counts")
    op.drop_table("refusal_counts")
    op.drop_table("throttle_counters")
