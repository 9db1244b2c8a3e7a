"""Add the queues that a worker serves."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from app.models.base import Json

revision: str = "0088"
down_revision: str | Sequence[str] | None = "0085"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("worker_heartbeats", sa.Column("queues", Json, nullable=True))


def downgrade() -> None:
    op.drop_column("worker_heartbeats", "queues")
