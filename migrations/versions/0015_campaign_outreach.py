"""Add the call plans of campaigns, and the outcome of each contact."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0016"
down_revision: str | Sequence[str] | None = "0014"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "outreaches",
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=False),
        sa.Column("weekdays", sa.String(length=100), nullable=False),
        sa.Column("hours_start", sa.Time(), nullable=False),
        sa.Column("hours_end", sa.Time(), nullable=False),
        sa.Column("calls_per_hour", sa.Integer(), nullable=True),
        sa.Column("calls_at_once", sa.Integer(), nullable=True),
        sa.Column("intro_message", sa.Text(), nullable=True),
        sa.Column("voicemail_message", sa.Text(), nullable=True),
        sa.Column("call_instructions", sa.Text(), nullable=True),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("resumed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("held_reason", sa.String(length=500), nullable=True),
        sa.Column("seen_revision", sa.Integer(), nullable=True),
        sa.Column("position", sa.Uuid(), nullable=True),
        sa.CheckConstraint(
            "calls_per_hour IS NULL OR calls_per_hour > 0",
            name=op.f("ck_outreaches_calls_per_hour"),
        ),
        sa.CheckConstraint(
            "calls_at_once IS NULL OR calls_at_once > 0", name=op.f("ck_outreaches_calls_at_once")
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "campaign_id"],
            ["campaigns.organization_id", "campaigns.id"],
            name=op.f("fk_outreaches_organization_id_campaign_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "agent_id"],
            ["agents.organization_id", "agents.id"],
            name=op.f("fk_outreaches_organization_id_agent_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("campaign_id", name=op.f("pk_outreaches")),
    )
    op.create_index("ix_outreaches_agent", "outreaches", ["organization_id", "agent_id"])
    op.create_table(
        "outreach_contacts",
        sa.Column("contact_id", sa.Uuid(), nullable=False),
        sa.Column("campaign_id", sa.Uuid(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column(
            "state",
            sa.Enum(
                "waiting",
                "called",
                "left-out",
                name="outreachstate",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("reason", sa.String(length=100), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("call_id", sa.Uuid(), nullable=True),
        sa.ForeignKeyConstraint(
            ["contact_id"],
            ["contacts.id"],
            name=op.f("fk_outreach_contacts_contact_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["campaign_id"],
            ["outreaches.campaign_id"],
            name=op.f("fk_outreach_contacts_campaign_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["call_id"],
            ["calls.id"],
            name=op.f("fk_outreach_contacts_call_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "contact_id", "campaign_id", "round", name=op.f("pk_outreach_contacts")
        ),
        sa.UniqueConstraint("call_id", name=op.f("uq_outreach_contacts_call_id")),
    )
    op.create_index(
        "ix_outreach_contacts_campaign",
        "outreach_contacts",
        ["campaign_id", "round", "state", "due_at"],
    )
    op.create_index(
        "ix_outreach_contacts_decided",
        "outreach_contacts",
        ["campaign_id", "round", "state", "decided_at"],
    )


def downgrade() -> None:
    op.drop_table("outreach_contacts")
    op.drop_table("outreaches")
