"""Allow alert rules about budgets."""

from collections.abc import Sequence

from migrations import online

PHASE = "expand"
revision: str = "0107"
down_revision: str | Sequence[str] | None = "0106"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

MEASURES = (
    "conversations",
    "minutes",
    "answer-rate",
    "failed-calls",
    "spending",
    "limits",
    "silence",
)


def upgrade() -> None:
    online.allow_only("alert_rules", "measure", "alertmeasure", (*MEASURES, "budget"))


def downgrade() -> None:
    online.allow_only("alert_rules", "measure", "alertmeasure", MEASURES)
