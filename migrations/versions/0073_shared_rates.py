"""Let all web processes count rates together."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0073"
down_revision: str | Sequence[str] | None = "0067"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "rate_levels",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("full_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_rate_levels")),
    )
    if op.get_bind().dialect.name == "postgresql":
        # Written many times a second; nothing is lost with it.
        op.execute("ALTER TABLE rate_levels SET UNLOGGED")


def downgrade() -> None:
    op.drop_table("rate_levels")
