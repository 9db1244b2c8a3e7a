"""Index finished campaigns among the notifications."""

from collections.abc import Sequence

import sqlalchemy as sa

from migrations import online

PHASE = "expand"
revision: str = "0098"
down_revision: str | Sequence[str] | None = "0097"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

CONDITION = sa.text(
    "action IN ('alert.opened', 'alert.resolved', 'campaign.finished', 'dialling.paused', "
    "'dialling.resumed', 'mail.failed', 'organization.budget_reached', 'partner.budget_reached', "
    "'phone_number.confirmation_ended', 'upload.applied', 'upload.cancelled', 'upload.failed', "
    "'user.viewed', 'webhook.paused')"
)


def upgrade() -> None:
    online.create_index(
        "ix_audit_entries_notices",
        "audit_entries",
        ["partner_id", "id"],
        sqlite_where=CONDITION,
        postgresql_where=CONDITION,
    )


def downgrade() -> None:
    online.drop_index("ix_audit_entries_notices", "audit_entries")
