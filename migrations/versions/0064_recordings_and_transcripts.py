"""Keep the recordings, transcripts and summaries of calls."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from app.models.base import Json
from migrations import policies

revision: str = "0064"
down_revision: str | Sequence[str] | None = "0062"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLES = ("call_recordings", "call_transcripts")


def upgrade() -> None:
    op.create_table(
        "call_recordings",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("call_id", sa.Uuid(), nullable=False),
        sa.Column("contact_id", sa.Uuid(), nullable=True),
        sa.Column("attempt_id", sa.Uuid(), nullable=True),
        sa.Column("state", _state(), nullable=False),
        sa.Column("url", sa.String(length=2000), nullable=True),
        sa.Column("carrier_reference", sa.String(length=200), nullable=True),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("problem", sa.String(length=500), nullable=True),
        sa.Column("file_key", sa.String(length=200), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("content_type", sa.String(length=100), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        *_keys("call_recordings"),
    )
    op.create_table(
        "call_transcripts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("call_id", sa.Uuid(), nullable=False),
        sa.Column("contact_id", sa.Uuid(), nullable=True),
        sa.Column("turns", Json, nullable=False),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("report_id", sa.String(length=200), nullable=True),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        *_keys("call_transcripts"),
    )
    op.create_index("ix_call_recordings_file_key", "call_recordings", ["file_key"])
    tenant = ["partner_id", "organization_id"]
    op.create_index("ix_call_recordings_organization", "call_recordings", tenant)
    op.create_index("ix_call_transcripts_organization", "call_transcripts", ["organization_id"])
    for table in TABLES:
        op.create_index(f"ix_{table}_created", table, ["created_at"])
        op.create_index(f"ix_{table}_contact_id", table, ["contact_id"])
        policies.by_partner(table, organization="organization_id")


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)


def _state() -> sa.Enum:
    return sa.Enum(
        "waiting",
        "stored",
        "failed",
        name="recordingstate",
        native_enum=False,
        create_constraint=True,
        length=40,
    )


def _keys(table: str) -> list[sa.Constraint]:
    return [
        sa.ForeignKeyConstraint(
            ["partner_id", "organization_id"],
            ["organizations.partner_id", "organizations.id"],
            name=op.f(f"fk_{table}_partner_id_organization_id_organizations"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "call_id"],
            ["calls.organization_id", "calls.id"],
            name=op.f(f"fk_{table}_organization_id_call_id_calls"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["contact_id"],
            ["contacts.id"],
            name=op.f(f"fk_{table}_contact_id_contacts"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}")),
        sa.UniqueConstraint("call_id", name=op.f(f"uq_{table}_call_id")),
    ]
