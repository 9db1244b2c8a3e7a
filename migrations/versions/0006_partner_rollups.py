"""Add the roll-ups of partners, and indexes for the newest changes."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0006"
down_revision: str | Sequence[str] | None = "0005"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

COUNTED = ("conversations", "by_person", "by_voicemail", "seconds")
TIERS = (
    "customerFreePlan",
    "customerBasicPlan",
    "customerPlusPlan",
    "customerBasicFreeTrialPlan",
)
SIGN_UPS = {
    "sqlite": """
        INSERT INTO partner_days (partner_id, day, conversations, by_person, by_voicemail,
            seconds, sign_ups)
        SELECT partner_id, substr(created_at, 1, 10), 0, 0, 0, 0, count(*) FROM users
        WHERE user_type = 'standard' GROUP BY partner_id, substr(created_at, 1, 10)
        ON CONFLICT (partner_id, day) DO UPDATE SET sign_ups = excluded.sign_ups
    """,
    "postgresql": """
        INSERT INTO partner_days (partner_id, day, conversations, by_person, by_voicemail,
            seconds, sign_ups)
        SELECT partner_id, date(timezone('UTC', created_at)), 0, 0, 0, 0, count(*) FROM users
        WHERE user_type = 'standard' GROUP BY partner_id, date(timezone('UTC', created_at))
        ON CONFLICT (partner_id, day) DO UPDATE SET sign_ups = excluded.sign_ups
    """,
}


def upgrade() -> None:
    op.create_table(
        "partner_days",
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in (*COUNTED, "sign_ups")),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_partner_days_partner_id_partners"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("partner_id", "day", name=op.f("pk_partner_days")),
    )
    op.create_table(
        "partner_tiers",
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column(
            "tier",
            sa.Enum(*TIERS, name="tier", native_enum=False, create_constraint=True, length=40),
            nullable=False,
        ),
        sa.Column("organizations", sa.Integer(), nullable=False),
        sa.Column("users", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_partner_tiers_partner_id_partners"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("partner_id", "tier", name=op.f("pk_partner_tiers")),
    )
    _count()
    with op.batch_alter_table("audit_entries") as table:
        table.drop_index("ix_audit_entries_organization_id")
        table.drop_index("ix_audit_entries_target")
        table.create_index("ix_audit_entries_organization", ["organization_id", "id"])
        table.create_index("ix_audit_entries_target", ["target_type", "target_id", "id"])


def _count() -> None:
    op.execute("""
        INSERT INTO partner_days (partner_id, day, conversations, by_person, by_voicemail,
            seconds, sign_ups, updated_at)
        SELECT partner_id, day, sum(conversations), sum(by_person), sum(by_voicemail),
            sum(seconds), 0, max(updated_at)
        FROM conversation_days GROUP BY partner_id, day
    """)
    op.execute(SIGN_UPS[op.get_bind().dialect.name])
    op.execute("""
        INSERT INTO partner_tiers (partner_id, tier, organizations, users)
        SELECT o.partner_id, coalesce(o.payment_tier, 'customerFreePlan'),
            count(DISTINCT o.id), count(u.id)
        FROM organizations o
        LEFT JOIN users u ON u.organization_id = o.id AND u.user_type = 'standard'
        GROUP BY o.partner_id, coalesce(o.payment_tier, 'customerFreePlan')
    """)


def downgrade() -> None:
    with op.batch_alter_table("audit_entries") as table:
        table.drop_index("ix_audit_entries_target")
        table.drop_index("ix_audit_entries_organization")
        table.create_index("ix_audit_entries_target", ["target_type", "target_id"])
        table.create_index("ix_audit_entries_organization_id", ["organization_id"])
    op.drop_table("partner_tiers")
    op.drop_table("partner_days")
