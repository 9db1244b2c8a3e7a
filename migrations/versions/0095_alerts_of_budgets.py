"""Keep the alert levels and the recipients of budgets."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

PHASE = "expand"
revision: str = "0095"
down_revision: str | Sequence[str] | None = "0094"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

COLUMNS = ("budget_levels", "budget_recipients")


def upgrade() -> None:
    for name in COLUMNS:
        kind = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
        op.add_column("spending_limits", sa.Column(name, kind, nullable=True))


def downgrade() -> None:
    for name in reversed(COLUMNS):
        op.drop_column("spending_limits", name)
