"""Add the signals to the worker about calls in progress."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from app.models.base import UtcDateTime

revision: str = "0026"
down_revision: str | Sequence[str] | None = "0023"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "call_news",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("attempt_id", sa.Uuid(), nullable=False),
        sa.Column("told_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_call_news")),
    )


def downgrade() -> None:
    op.drop_table("call_news")
