"""Keep timelines, mails and deliveries of webhooks in monthly partitions on PostgreSQL."""

from collections.abc import Sequence

from migrations import partitioning

revision: str = "0079"
down_revision: str | Sequence[str] | None = "0078"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLES = ("call_events", "mails", "webhook_deliveries")


def upgrade() -> None:
    for table in TABLES:
        partitioning.split_by_month(table)


def downgrade() -> None:
    for table in TABLES:
        partitioning.join(table, "id")
