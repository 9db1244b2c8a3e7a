"""Let PostgreSQL itself refuse the rows of other partners."""

from collections.abc import Sequence

from migrations import policies

revision: str = "0033"
down_revision: str | Sequence[str] | None = "0032"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

OF_PARTNER = (
    "api_requests",
    "audit_entries",
    "brand_images",
    "brand_versions",
    "carrier_accounts",
    "dialling_pauses",
    "held_calls",
    "mails",
    "oauth_clients",
    "partner_brand_colors",
    "partner_cost_days",
    "partner_days",
    "partner_destinations",
    "partner_header_links",
    "partner_pricing",
    "partner_site_images",
    "partner_social_links",
    "partner_tiers",
    "plan_limits",
    "users",
)
OF_PARTNER_AND_ORGANIZATION = (
    "agents",
    "api_keys",
    "calls",
    "campaigns",
    "contact_imports",
    "conversation_days",
    "conversations",
    "cost_days",
    "do_not_call",
    "webhook_endpoints",
)
OF_ORGANIZATION = (
    "call_attempts",
    "campaign_agents",
    "column_mappings",
    "contacts",
    "external_id_keys",
    "outreaches",
)
OF_PARENT = {
    "call_events": ("call_id", "calls"),
    "carrier_account_tests": ("account_id", "carrier_accounts"),
    "contact_external_ids": ("campaign_id", "campaigns"),
    "email_changes": ("user_id", "users"),
    "idempotency_records": ("credential_id", "api_keys", "oauth_clients", "users"),
    "import_changes": ("import_id", "contact_imports"),
    "import_corrections": ("import_id", "contact_imports"),
    "import_problems": ("import_id", "contact_imports"),
    "import_rows": ("import_id", "contact_imports"),
    "legacy_days": ("client_id", "oauth_clients"),
    "legacy_exchanges": ("client_id", "oauth_clients"),
    "offered_accounts": ("user_id", "users"),
    "one_time_links": ("user_id", "users"),
    "outreach_contacts": ("campaign_id", "campaigns"),
    "portal_sessions": ("user_id", "users"),
    "webhook_deliveries": ("endpoint_id", "webhook_endpoints"),
}
"""By column, the tables that may hold the row they belong to."""
AUTHENTICATION = {
    "api_keys": ("SELECT",),
    "audit_entries": ("INSERT",),
    "audit_links": ("SELECT", "INSERT"),
    "brand_images": ("SELECT",),
    "email_changes": ("SELECT", "UPDATE", "DELETE"),
    "mails": ("SELECT", "INSERT"),
    "oauth_clients": ("SELECT", "UPDATE"),
    "offered_accounts": ("ALL",),
    "one_time_links": ("ALL",),
    "organizations": ("SELECT",),
    "partner_brand_colors": ("SELECT",),
    "partner_header_links": ("SELECT",),
    "partner_pricing": ("SELECT",),
    "partner_site_images": ("SELECT",),
    "partner_social_links": ("SELECT",),
    "partners": ("SELECT",),
    "portal_sessions": ("ALL",),
    "users": ("SELECT", "UPDATE"),
}
"""What signing in, recovery links, tokens and the brand of a visitor need."""


def upgrade() -> None:
    policies.by_partner("partners", "id")
    policies.by_partner("organizations", organization="id")
    policies.by_partner("audit_links", "chain")
    for table in OF_PARTNER:
        policies.by_partner(table)
    for table in OF_PARTNER_AND_ORGANIZATION:
        policies.by_partner(table, organization="organization_id")
    for table in OF_ORGANIZATION:
        policies.by_organization(table)
    for table, (column, *parents) in OF_PARENT.items():
        policies.by_parent(table, column, *parents)
    policies.allow_reading("dialling_pauses", "partner_id IS NULL")
    for table, commands in AUTHENTICATION.items():
        policies.allow_authentication(table, *commands)


def downgrade() -> None:
    own = ("partners", "organizations", "audit_links")
    for table in (*own, *OF_PARTNER, *OF_PARTNER_AND_ORGANIZATION, *OF_ORGANIZATION, *OF_PARENT):
        policies.remove(table)
