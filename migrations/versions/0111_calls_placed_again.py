"""Keep after which call another one was placed with "Call again"."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

PHASE = "expand"
revision: str = "0111"
down_revision: str | Sequence[str] | None = "0110"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("calls", sa.Column("after_call_id", sa.Uuid(), nullable=True))


def downgrade() -> None:
    op.drop_column("calls", "after_call_id")
