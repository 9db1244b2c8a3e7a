"""Index the history by who did it: the personal data of a user has their entries."""

from collections.abc import Sequence

import sqlalchemy as sa

from migrations import online

PHASE = "expand"
revision: str = "0100"
down_revision: str | Sequence[str] | None = "0099"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

CONDITION = sa.text("actor_id IS NOT NULL")


def upgrade() -> None:
    online.create_index(
        "ix_audit_entries_actor",
        "audit_entries",
        ["actor_id", "id"],
        sqlite_where=CONDITION,
        postgresql_where=CONDITION,
    )


def downgrade() -> None:
    online.drop_index("ix_audit_entries_actor", "audit_entries")
