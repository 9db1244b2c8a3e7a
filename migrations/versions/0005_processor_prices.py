"""Add the prices that the payment processor reported."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | Sequence[str] | None = "0004"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "processor_checks",
        sa.Column("price_id", sa.String(length=200), nullable=False),
        sa.Column("found", sa.Boolean(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("price_id", name=op.f("pk_processor_checks")),
    )
    with op.batch_alter_table("processor_checks", schema=None) as batch_op:
        batch_op.create_index(op.f("ix_processor_checks_asked_at"), ["asked_at"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("processor_checks", schema=None) as batch_op:
        batch_op.drop_index(op.f("ix_processor_checks_asked_at"))
    op.drop_table("processor_checks")
