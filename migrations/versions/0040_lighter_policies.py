"""Write the policies of PostgreSQL in a form that costs less; they allow the same rows."""

from collections.abc import Sequence
from importlib import import_module

from migrations import policies

revision: str = "0040"
down_revision: str | Sequence[str] | None = "0039"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Those of 0033 to 0039 again: on a new database they have this form already."""
    import_module("migrations.versions.0033_row_level_security").upgrade()
    policies.by_organization("contacts", "campaign_id", "campaigns")
    for table in ("call_hours", "phone_numbers", "verified_numbers"):
        policies.by_partner(table, organization="organization_id")
    for table in ("spending_limits", "spending_totals", "refusal_counts"):
        policies.by_partner(table)
    policies.allow_authentication("refusal_counts", "ALL")
    policies.by_parent("carrier_number_lists", "account_id", "carrier_accounts")
    policies.by_parent("import_blocks", "import_id", "contact_imports")


def downgrade() -> None:
    """Nothing: the version before works with this form too."""
