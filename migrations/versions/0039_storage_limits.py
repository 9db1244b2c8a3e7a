"""Pack the rows of files with very many problems, and count and limit what uploads store."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations import policies

revision: str = "0039"
down_revision: str | Sequence[str] | None = "0038"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

JSON_TYPE = sa.JSON(none_as_null=True).with_variant(
    postgresql.JSONB(none_as_null=True), "postgresql"
)
OF_UPLOADS = ("import_rows", "import_problems", "import_blocks", "import_changes")
STORED = sa.text("(file_key <> '' OR stored_bytes <> 0 OR stored_bytes IS NULL)")


def upgrade() -> None:
    op.create_table(
        "import_blocks",
        sa.Column("import_id", sa.Uuid(), nullable=False),
        sa.Column("row_number", sa.Integer(), nullable=False),
        sa.Column("last_row", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["import_id"],
            ["contact_imports.id"],
            name=op.f("fk_import_blocks_import_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("import_id", "row_number", name=op.f("pk_import_blocks")),
    )
    policies.by_parent("import_blocks", "import_id", "contact_imports")
    op.add_column("contact_imports", sa.Column("packed", JSON_TYPE, nullable=True))
    op.add_column("contact_imports", sa.Column("stored_bytes", sa.BigInteger(), nullable=True))
    op.add_column(
        "contact_imports",
        sa.Column("deletion_requested_at", sa.DateTime(timezone=True), nullable=True),
    )
    op.execute("UPDATE contact_imports SET stored_bytes = 0 WHERE rows_forgotten_at IS NOT NULL")
    op.create_index(
        "ix_contact_imports_stored",
        "contact_imports",
        ["partner_id", "organization_id"],
        sqlite_where=STORED,
        postgresql_where=STORED,
    )
    for table in ("partners", "organizations"):
        op.add_column(table, sa.Column("storage_limit", sa.BigInteger(), nullable=True))
    _vacuum_from("0.02")


def downgrade() -> None:
    _vacuum_from(None)
    for table in ("organizations", "partners"):
        op.drop_column(table, "storage_limit")
    op.drop_index("ix_contact_imports_stored", table_name="contact_imports")
    for column in ("deletion_requested_at", "stored_bytes", "packed"):
        op.drop_column("contact_imports", column)
    op.drop_table("import_blocks")


def _vacuum_from(share: str | None) -> None:
    """Let PostgreSQL reuse the space of deleted rows early: a fifth of these tables is a lot."""
    if op.get_bind().dialect.name != "postgresql":
        return
    for table in OF_UPLOADS:
        option = "autovacuum_vacuum_scale_factor"
        act = f"RESET ({option})" if share is None else f"SET ({option} = {share})"
        op.execute(f"ALTER TABLE {table} {act}")
