"""Add the first and the last day of a campaign's plan."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0091"
down_revision: str | Sequence[str] | None = "0090"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None
PHASE = "expand"


def upgrade() -> None:
    op.add_column("outreaches", sa.Column("starts_on", sa.Date(), nullable=True))
    op.add_column("outreaches", sa.Column("ends_on", sa.Date(), nullable=True))


def downgrade() -> None:
    op.drop_column("outreaches", "ends_on")
    op.drop_column("outreaches", "starts_on")
