"""Add leases of imports, and mark rows whose country was assumed."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0010"
down_revision: str | Sequence[str] | None = "0009"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("contact_imports", sa.Column("lease_until", sa.DateTime(timezone=True)))
    op.add_column(
        "contact_imports",
        sa.Column("apply_when_checked", sa.Boolean(), server_default=sa.false(), nullable=False),
    )
    leased = sa.text("lease_until IS NOT NULL")
    op.create_index(
        "ix_contact_imports_leased",
        "contact_imports",
        ["lease_until"],
        sqlite_where=leased,
        postgresql_where=leased,
    )
    op.add_column(
        "import_rows",
        sa.Column("assumed_country", sa.Boolean(), server_default=sa.false(), nullable=False),
    )


def downgrade() -> None:
    op.drop_column("import_rows", "assumed_country")
    op.drop_index("ix_contact_imports_leased", "contact_imports")
    op.drop_column("contact_imports", "apply_when_checked")
    op.drop_column("contact_imports", "lease_until")
