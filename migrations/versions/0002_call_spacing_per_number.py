"""Add the shortest time between two calls to one number."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | Sequence[str] | None = "0001"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    with op.batch_alter_table("organizations") as table:
        table.add_column(sa.Column("number_spacing_minutes", sa.Integer(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("organizations") as table:
        table.drop_column("number_spacing_minutes")
