"""Find the attempts of an organization by their time: how many calls it made today."""

from collections.abc import Sequence

from migrations import online

PHASE = "expand"
revision: str = "0110"
down_revision: str | Sequence[str] | None = "0109"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    columns = ["organization_id", "started_at"]
    online.create_index("ix_call_attempts_organization", "call_attempts", columns)


def downgrade() -> None:
    online.drop_index("ix_call_attempts_organization", "call_attempts")
