"""Add the observed health of carriers, by the minute."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0019"
down_revision: str | Sequence[str] | None = "0020"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

CARRIERS = ("simulator", "sip", "twilio")
KINDS = ("answered", "slow", "refused", "put-off", "unreached", "silent")


def upgrade() -> None:
    op.create_table(
        "carrier_observations",
        sa.Column("minute", sa.DateTime(timezone=True), nullable=False),
        sa.Column("carrier", _one_of(CARRIERS, "carrierkind"), nullable=False),
        sa.Column("kind", _one_of(KINDS, "observed"), nullable=False),
        sa.Column("code", sa.String(length=100), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("detail", sa.String(length=500), nullable=False),
        sa.PrimaryKeyConstraint(
            "minute", "carrier", "kind", "code", name=op.f("pk_carrier_observations")
        ),
    )


def downgrade() -> None:
    op.drop_table("carrier_observations")


def _one_of(words: tuple[str, ...], name: str) -> sa.Enum:
    return sa.Enum(*words, name=name, native_enum=False, create_constraint=True, length=40)
