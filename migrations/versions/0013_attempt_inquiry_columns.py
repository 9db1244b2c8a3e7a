"""Add what an attempt is looked up, retried and ended by."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision: str = "0013"
down_revision: str | Sequence[str] | None = "0012"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    for column in _columns():
        op.add_column("call_attempts", column)


def downgrade() -> None:
    # No batch: a copied table would drop what refers to it.
    for column in _columns():
        op.drop_column("call_attempts", column.name)


def _columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("from_number", sa.String(length=16), nullable=True),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("put_off_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("hang_up_asked_at", sa.DateTime(timezone=True), nullable=True),
    ]
