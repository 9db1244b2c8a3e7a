"""Let requests be noted without the kind of their credential, which nothing reads."""

from collections.abc import Sequence

from alembic import op

PHASE = "contract"
OLDEST_CODE = "0091"
revision: str = "0103"
down_revision: str | Sequence[str] | None = "0102"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    with op.batch_alter_table("api_requests") as batch_op:
        batch_op.alter_column("credential_kind", nullable=True)


def downgrade() -> None:
    op.execute("UPDATE api_requests SET credential_kind = '' WHERE credential_kind IS NULL")
    with op.batch_alter_table("api_requests") as batch_op:
        batch_op.alter_column("credential_kind", nullable=False)
