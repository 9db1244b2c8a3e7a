"""Drop the table of failed sign-ins, which the counters of 0038 replaced."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0051"
down_revision: str | Sequence[str] | None = "0050"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.drop_table("failed_sign_ins")


def downgrade() -> None:
    op.create_table(
        "failed_sign_ins",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("subject_hash", sa.String(length=64), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_failed_sign_ins")),
    )
    op.create_index("ix_failed_sign_ins_subject", "failed_sign_ins", ["subject_hash", "at"])
