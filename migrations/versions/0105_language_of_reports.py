"""Add the language of a scheduled report."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

PHASE = "expand"
revision: str = "0105"
down_revision: str | Sequence[str] | None = "0104"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("report_schedules", sa.Column("language", sa.String(length=100), nullable=True))


def downgrade() -> None:
    op.drop_column("report_schedules", "language")
