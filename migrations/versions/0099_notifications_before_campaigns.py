"""Drop the index of notifications without finished campaigns."""

from collections.abc import Sequence

import sqlalchemy as sa

from migrations import online

PHASE = "contract"
OLDEST_CODE = "0098"
revision: str = "0099"
down_revision: str | Sequence[str] | None = "0098"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

CONDITION = sa.text(
    "action IN ('alert.opened', 'alert.resolved', 'dialling.paused', 'dialling.resumed', "
    "'mail.failed', 'organization.budget_reached', 'partner.budget_reached', "
    "'phone_number.confirmation_ended', 'upload.applied', 'upload.cancelled', 'upload.failed', "
    "'user.viewed', 'webhook.paused')"
)


def upgrade() -> None:
    online.drop_index("ix_audit_entries_notifications", "audit_entries")


def downgrade() -> None:
    online.create_index(
        "ix_audit_entries_notifications",
        "audit_entries",
        ["partner_id", "id"],
        sqlite_where=CONDITION,
        postgresql_where=CONDITION,
    )
