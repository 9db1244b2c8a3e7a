"""Add the last requests of credentials, and the overlap of rotated client secrets."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | Sequence[str] | None = "0002"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "api_requests",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("credential_kind", sa.String(length=100), nullable=False),
        sa.Column("credential_id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=True),
        sa.Column("organization_id", sa.Uuid(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("method", sa.String(length=100), nullable=False),
        sa.Column("route", sa.String(length=500), nullable=False),
        sa.Column("operation", sa.String(length=100), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(length=100), nullable=True),
        sa.Column("duration_ms", sa.Float(), nullable=False),
        sa.Column("response_bytes", sa.Integer(), nullable=True),
        sa.Column("request_id", sa.String(length=100), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_requests")),
    )
    with op.batch_alter_table("api_requests", schema=None) as batch_op:
        batch_op.create_index("ix_api_requests_credential", ["credential_id", "id"], unique=False)
        batch_op.create_index(op.f("ix_api_requests_at"), ["at"], unique=False)

    with op.batch_alter_table("oauth_clients", schema=None) as batch_op:
        batch_op.add_column(sa.Column("previous_secret_hash", sa.String(length=64), nullable=True))
        batch_op.add_column(sa.Column("previous_until", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("oauth_clients", schema=None) as batch_op:
        batch_op.drop_column("previous_until")
        batch_op.drop_column("previous_secret_hash")

    with op.batch_alter_table("api_requests", schema=None) as batch_op:
        batch_op.drop_index(op.f("ix_api_requests_at"))
        batch_op.drop_index("ix_api_requests_credential")

    op.drop_table("api_requests")
