"""Add the SIP trunks of partners."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0023"
down_revision: str | Sequence[str] | None = "0022"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    json = sa.JSON(none_as_null=True).with_variant(
        postgresql.JSONB(none_as_null=True), "postgresql"
    )
    op.add_column("carrier_accounts", sa.Column("trunk", json, nullable=True))


def downgrade() -> None:
    # Without their trunk these look like accounts with Twilio.
    op.execute("DELETE FROM carrier_accounts WHERE trunk IS NOT NULL")
    op.drop_column("carrier_accounts", "trunk")
