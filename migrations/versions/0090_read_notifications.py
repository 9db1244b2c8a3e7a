"""Add the notifications that users have read one by one."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from migrations import policies

revision: str = "0090"
down_revision: str | Sequence[str] | None = "0088"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None
PHASE = "expand"


def upgrade() -> None:
    op.create_table(
        "read_notifications",
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("entry_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
            name=op.f("fk_read_notifications_user_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("user_id", "entry_id", name=op.f("pk_read_notifications")),
    )
    policies.by_parent("read_notifications", "user_id", "users")


def downgrade() -> None:
    op.drop_table("read_notifications")
