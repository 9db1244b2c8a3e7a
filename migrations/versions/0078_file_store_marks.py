"""Let a database know the store of its files."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0078"
down_revision: str | Sequence[str] | None = "0076"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "file_store_marks",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("identity", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_file_store_marks")),
    )


def downgrade() -> None:
    op.drop_table("file_store_marks")
