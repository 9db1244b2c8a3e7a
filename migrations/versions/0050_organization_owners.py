"""Let users be owners of their organization."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from migrations import checks

revision: str = "0050"
down_revision: str | Sequence[str] | None = "0049"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

COLUMNS = (("users", "user_type"), ("oauth_clients", "role"))
"""Columns whose check lists the roles. Neither ever holds ``owner``."""


def upgrade() -> None:
    owner: sa.Column[bool] = sa.Column(
        "is_owner", sa.Boolean(), nullable=False, server_default=sa.false()
    )
    op.add_column("users", owner)
    for table, column in COLUMNS:
        checks.allow(table, column, "role", "owner")


def downgrade() -> None:
    for table, column in COLUMNS:
        checks.forbid(table, column, "role", "owner")
    op.drop_column("users", "is_owner")
