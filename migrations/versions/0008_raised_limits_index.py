"""Add the index of organizations whose limits are above one."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0008"
down_revision: str | Sequence[str] | None = "0007"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    room = sa.text("(agent_limit > 1 OR user_limit > 1)")
    with op.batch_alter_table("organizations", schema=None) as batch_op:
        batch_op.create_index(
            "ix_organizations_roomy",
            ["partner_id", "created_at", "id"],
            sqlite_where=room,
            postgresql_where=room,
        )


def downgrade() -> None:
    with op.batch_alter_table("organizations", schema=None) as batch_op:
        batch_op.drop_index("ix_organizations_roomy")
