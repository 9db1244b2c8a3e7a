"""Keep the last test of each carrier account, and find a user's sessions in their order."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0029"
down_revision: str | Sequence[str] | None = "0028"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "carrier_account_tests",
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("works", sa.Boolean(), nullable=True),
        sa.Column("words", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["carrier_accounts.id"],
            name=op.f("fk_carrier_account_tests_account_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_carrier_account_tests")),
    )
    op.create_index("ix_portal_sessions_user_id_seen_at", "portal_sessions", ["user_id", "seen_at"])


def downgrade() -> None:
    op.drop_index("ix_portal_sessions_user_id_seen_at", table_name="portal_sessions")
    op.drop_table("carrier_account_tests")
