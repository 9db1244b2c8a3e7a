"""Let users choose a language, and partners a default."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0055"
down_revision: str | Sequence[str] | None = "0051"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLES = ("users", "partners")


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column("language", sa.String(100), nullable=True))


def downgrade() -> None:
    for table in TABLES:
        op.drop_column(table, "language")
