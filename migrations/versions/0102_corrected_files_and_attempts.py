"""Link corrected files to their uploads, and keep the attempts of webhook deliveries."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

PHASE = "expand"
revision: str = "0102"
down_revision: str | Sequence[str] | None = "0101"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.add_column("contact_imports", sa.Column("corrects_id", sa.Uuid(), nullable=True))
    op.add_column(
        "contact_imports", sa.Column("rows_fixed", sa.Integer(), server_default="0", nullable=False)
    )
    op.add_column("webhook_deliveries", sa.Column("attempt_log", JSON, nullable=True))


def downgrade() -> None:
    op.drop_column("webhook_deliveries", "attempt_log")
    op.drop_column("contact_imports", "rows_fixed")
    op.drop_column("contact_imports", "corrects_id")
