"""Check the DNS records of partners' domains; send mail from a partner's own address."""

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

from app.models.base import Json
from migrations import policies

revision: str = "0062"
down_revision: str | Sequence[str] | None = "0061"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column("partners", sa.Column("sender_email", sa.String(254), nullable=True))
    domains = op.create_table(
        "partner_domains",
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column(
            "purpose",
            sa.Enum(
                "portal",
                "mail",
                name="domainpurpose",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("domain", sa.String(length=200), nullable=False),
        sa.Column("token", sa.String(length=100), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("findings", Json, nullable=False),
        sa.Column("proved_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("missing_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lost_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("is_taken", sa.Boolean(), nullable=False),
        sa.Column("dkim_key", sa.Text(), nullable=True),
        sa.Column("dkim_public", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_partner_domains_partner_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("partner_id", "purpose", name=op.f("pk_partner_domains")),
    )
    _ask_for_checks(domains)
    policies.by_partner("partner_domains")


def downgrade() -> None:
    op.drop_table("partner_domains")
    op.drop_column("partners", "sender_email")


def _ask_for_checks(domains: sa.Table) -> None:
    """Have every domain checked: the worker finds that it is due. Domains that an operator verified
    stay verified."""
    partners = sa.table("partners", sa.column("id", sa.Uuid()), sa.column("domain_key"))
    found = sa.select(partners).where(partners.c.domain_key.is_not(None))
    rows = [
        {
            "partner_id": partner_id,
            "purpose": "portal",
            "domain": domain,
            "token": secrets.token_urlsafe(24),
            "asked_at": datetime(2000, 1, 1, tzinfo=UTC),
            "findings": [],
            "is_taken": False,
        }
        for partner_id, domain in op.get_bind().execute(found)
    ]
    if rows:
        op.bulk_insert(domains, rows)
