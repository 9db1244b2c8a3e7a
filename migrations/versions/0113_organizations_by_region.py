"""Find the regions of a partner's organizations, in which a number without a country code is read."""

from collections.abc import Sequence

from migrations import online

PHASE = "expand"
revision: str = "0113"
down_revision: str | Sequence[str] | None = "0112"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    columns = ["partner_id", "default_region"]
    online.create_index("ix_organizations_partner_region", "organizations", columns)


def downgrade() -> None:
    online.drop_index("ix_organizations_partner_region", "organizations")
