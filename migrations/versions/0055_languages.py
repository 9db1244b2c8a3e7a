"""Let users choose a language, and partners a default and the texts of their brand in each."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from app.models.base import Json

revision: str = "0055"
down_revision: str | Sequence[str] | None = "0053"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLES = ("users", "partners")


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column("language", sa.String(100), nullable=True))
    op.add_column("partners", sa.Column("mail_greeting", sa.String(200), nullable=True))
    op.add_column("partners", sa.Column("texts_by_language", Json, nullable=True))


def downgrade() -> None:
    op.drop_column("partners", "texts_by_language")
    op.drop_column("partners", "mail_greeting")
    for table in TABLES:
        op.drop_column(table, "language")
