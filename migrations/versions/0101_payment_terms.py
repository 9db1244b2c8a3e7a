"""Add how customers pay the statements of a partner."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

PHASE = "expand"
revision: str = "0101"
down_revision: str | Sequence[str] | None = "0100"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("partners", sa.Column("payment_instructions", sa.Text(), nullable=True))
    op.add_column("partners", sa.Column("payment_days", sa.Integer(), nullable=True))


def downgrade() -> None:
    op.drop_column("partners", "payment_days")
    op.drop_column("partners", "payment_instructions")
