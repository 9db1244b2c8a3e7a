"""Keep the database's own identity beside the installation's mark; note backups."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0052"
down_revision: str | Sequence[str] | None = "0051"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

NUMBERS = ("server", "timeline", "database", "written_by")


def upgrade() -> None:
    # Without defaults that rewrite rows: a row names the transaction that wrote it.
    for name in NUMBERS:
        number: sa.Column[int] = sa.Column(name, sa.BigInteger(), nullable=True)
        op.add_column("installation_marks", number)
    labelled: sa.Column[bool] = sa.Column(
        "is_labelled", sa.Boolean(), nullable=False, server_default=sa.false()
    )
    op.add_column("installation_marks", labelled)
    missing = sa.Column("missing_since", sa.DateTime(timezone=True), nullable=True)
    op.add_column("installation_marks", missing)
    op.create_table(
        "backups",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("verified_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("file", sa.String(length=500), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=True),
        sa.Column("problem", sa.String(length=500), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_backups")),
    )
    op.create_index("ix_backups_started_at", "backups", ["started_at"])


def downgrade() -> None:
    op.drop_table("backups")
    for name in ("missing_since", "is_labelled", *reversed(NUMBERS)):
        op.drop_column("installation_marks", name)
