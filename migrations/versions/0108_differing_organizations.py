"""Keep how many organizations differ in a figure check, and the first of them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

PHASE = "expand"
revision: str = "0108"
down_revision: str | Sequence[str] | None = "0107"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.add_column(
        "figure_checks", sa.Column("differing", sa.Integer(), server_default="0", nullable=False)
    )
    op.add_column("figure_checks", sa.Column("examples", JSON, nullable=True))


def downgrade() -> None:
    op.drop_column("figure_checks", "examples")
    op.drop_column("figure_checks", "differing")
