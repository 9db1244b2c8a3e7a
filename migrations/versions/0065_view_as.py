"""Let operators view a portal as one of its users, and notify its administrators."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0065"
down_revision: str | Sequence[str] | None = "0064"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

BEFORE = (
    "action IN ('alert.opened', 'alert.resolved', 'dialling.paused', 'dialling.resumed', "
    "'mail.failed', 'phone_number.confirmation_ended', 'upload.applied', 'upload.cancelled', "
    "'upload.failed', 'webhook.paused')"
)
AFTER = BEFORE.replace("'webhook.paused'", "'user.viewed', 'webhook.paused'")


def upgrade() -> None:
    op.add_column("portal_sessions", sa.Column("viewed_user_id", sa.Uuid(), nullable=True))
    op.add_column(
        "portal_sessions", sa.Column("viewed_until", sa.DateTime(timezone=True), nullable=True)
    )
    _index_notified(AFTER)


def downgrade() -> None:
    op.execute("DELETE FROM portal_sessions WHERE viewed_user_id IS NOT NULL")
    _index_notified(BEFORE)
    op.drop_column("portal_sessions", "viewed_until")
    op.drop_column("portal_sessions", "viewed_user_id")


def _index_notified(condition: str) -> None:
    """Index the entries that users are notified of, in place of the index before."""
    op.drop_index("ix_audit_entries_notified", table_name="audit_entries")
    op.create_index(
        "ix_audit_entries_notified",
        "audit_entries",
        ["partner_id", "id"],
        sqlite_where=sa.text(condition),
        postgresql_where=sa.text(condition),
    )
