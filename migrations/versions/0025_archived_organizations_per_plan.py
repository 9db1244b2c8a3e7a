"""Count the archived organizations of each plan."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0028"
down_revision: str | Sequence[str] | None = "0027"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column(
        "partner_tiers", sa.Column("archived", sa.Integer(), server_default="0", nullable=False)
    )
    op.execute("""
        UPDATE partner_tiers SET archived = (
            SELECT count(*) FROM organizations o
            WHERE o.partner_id = partner_tiers.partner_id
                AND coalesce(o.payment_tier, 'customerFreePlan') = partner_tiers.tier
                AND o.status = 'archived'
        )
    """)


def downgrade() -> None:
    op.drop_column("partner_tiers", "archived")
