"""Sort calls by outcome, organizations by plan, users by role, uploads by state and author, numbers
that are never called by source and reason, and webhooks by address."""

from collections.abc import Sequence

import sqlalchemy as sa

from migrations import online

PHASE = "expand"
revision: str = "0104"
down_revision: str | Sequence[str] | None = "0103"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

PLAN = "(CASE WHEN payment_tier IS NULL THEN 'customerFreePlan' ELSE payment_tier END)"
ROLE = "(CASE WHEN is_owner THEN 'owner' ELSE user_type END)"
INDEXES: tuple[tuple[str, str, list[str], str], ...] = (
    (
        "ix_calls_partner_ended_reason",
        "calls",
        ["partner_id", "ended_reason", "id"],
        "ended_reason IS NOT NULL",
    ),
    (
        "ix_calls_organization_ended_reason",
        "calls",
        ["organization_id", "ended_reason", "id"],
        "ended_reason IS NOT NULL",
    ),
    ("ix_organizations_partner_plan", "organizations", ["partner_id", PLAN, "id"], ""),
    ("ix_users_partner_role", "users", ["partner_id", ROLE, "id"], ""),
    ("ix_contact_imports_partner_state", "contact_imports", ["partner_id", "state", "id"], ""),
    ("ix_contact_imports_partner_author", "contact_imports", ["partner_id", "author", "id"], ""),
    ("ix_do_not_call_source", "do_not_call", ["organization_id", "source", "phone"], ""),
    (
        "ix_do_not_call_reason",
        "do_not_call",
        ["organization_id", "reason", "phone"],
        "reason IS NOT NULL",
    ),
    ("ix_webhook_endpoints_partner_url", "webhook_endpoints", ["partner_id", "url", "id"], ""),
)


def upgrade() -> None:
    keys = {each: sa.text(each) for each in (PLAN, ROLE)}
    for name, table, columns, where in INDEXES:
        condition = sa.text(where) if where else None
        parts = [keys.get(each, each) for each in columns]
        online.create_index(name, table, parts, sqlite_where=condition, postgresql_where=condition)


def downgrade() -> None:
    for name, table, _columns, _where in reversed(INDEXES):
        online.drop_index(name, table)
