"""Add indexes of calls by number and status."""

from collections.abc import Sequence

from alembic import op

revision: str = "0007"
down_revision: str | Sequence[str] | None = "0006"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    with op.batch_alter_table("calls", schema=None) as batch_op:
        batch_op.create_index("ix_calls_partner_phone", ["partner_id", "phone_number"])
        batch_op.create_index("ix_calls_partner_status", ["partner_id", "status", "id"])


def downgrade() -> None:
    with op.batch_alter_table("calls", schema=None) as batch_op:
        batch_op.drop_index("ix_calls_partner_status")
        batch_op.drop_index("ix_calls_partner_phone")
