"""Allow webhooks for a whole portal, which have no organization."""

from collections.abc import Sequence

from alembic import op
from sqlalchemy import text

from migrations import online

PHASE = "expand"
revision: str = "0109"
down_revision: str | Sequence[str] | None = "0108"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLE, COLUMN = "webhook_endpoints", "organization_id"
INDEX = "ix_webhook_endpoints_portal"
PARTNER_KEY = "fk_webhook_endpoints_partner_id"
OF_PARTNER = "FOREIGN KEY(partner_id) REFERENCES partners (id) ON DELETE CASCADE"
"""Without an organization, the key that includes the partner is not checked."""


def upgrade() -> None:
    online.allow_null(TABLE, COLUMN)
    online.add_constraint(PARTNER_KEY, TABLE, OF_PARTNER, also_on_sqlite=True)
    of_portals = text("organization_id IS NULL")
    online.create_index(
        INDEX,
        TABLE,
        ["partner_id", "id"],
        sqlite_where=of_portals,
        postgresql_where=of_portals,
    )


def downgrade() -> None:
    online.drop_index(INDEX, TABLE)
    op.execute("DELETE FROM webhook_endpoints WHERE organization_id IS NULL")
    online.drop_constraint(PARTNER_KEY, TABLE, OF_PARTNER)
    online.refuse_null(TABLE, COLUMN)
