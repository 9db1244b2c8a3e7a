"""Index the calls of a campaign."""

from collections.abc import Sequence

import sqlalchemy as sa

from migrations import online

PHASE = "expand"
revision: str = "0094"
down_revision: str | Sequence[str] | None = "0093"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

HAS_CAMPAIGN = sa.text("campaign_id IS NOT NULL")


def upgrade() -> None:
    online.create_index(
        "ix_calls_campaign",
        "calls",
        ["campaign_id", "id"],
        sqlite_where=HAS_CAMPAIGN,
        postgresql_where=HAS_CAMPAIGN,
    )


def downgrade() -> None:
    online.drop_index("ix_calls_campaign", "calls")
