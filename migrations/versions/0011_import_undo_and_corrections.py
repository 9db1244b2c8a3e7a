"""Add the undo log and the corrections of imports."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

JSON_TYPE = sa.JSON(none_as_null=True).with_variant(
    postgresql.JSONB(none_as_null=True), "postgresql"
)
revision: str = "0011"
down_revision: str | Sequence[str] | None = "0010"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    for column in _upload_columns():
        op.add_column("contact_imports", column)
    for column in _change_columns():
        op.add_column("import_changes", column)
    op.create_table(
        "import_corrections",
        sa.Column("import_id", sa.Uuid(), nullable=False),
        sa.Column("row_number", sa.Integer(), nullable=False),
        sa.Column("cells", JSON_TYPE, nullable=False),
        sa.Column("was", JSON_TYPE, nullable=False),
        sa.Column("skipped", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["import_id"],
            ["contact_imports.id"],
            name=op.f("fk_import_corrections_import_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("import_id", "row_number", name=op.f("pk_import_corrections")),
    )


def downgrade() -> None:
    op.drop_table("import_corrections")
    # No batch: a copied table would drop what refers to it.
    for column in _change_columns():
        op.drop_column("import_changes", column.name)
    for column in _upload_columns():
        op.drop_column("contact_imports", column.name)


def _upload_columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("undo_state", sa.String(length=100), nullable=True),
        sa.Column("undo_author", sa.String(length=200), nullable=True),
        sa.Column("undo_number", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("undo_from_row", sa.Integer(), nullable=True),
        sa.Column("undo_changes", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("undo_done", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("undo_result", JSON_TYPE, nullable=True),
        sa.Column("undo_started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("undone_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("rows_forgotten_at", sa.DateTime(timezone=True), nullable=True),
    ]


def _change_columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("undone", sa.String(length=100), nullable=True),
        sa.Column("fields_left", JSON_TYPE, nullable=True),
    ]
