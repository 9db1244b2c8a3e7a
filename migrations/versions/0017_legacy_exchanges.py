"""Add the requests that clients still send to the legacy API."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0020"
down_revision: str | Sequence[str] | None = "0018"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

DAY = {
    "sqlite": "substr(created_at, 1, 10)",
    "postgresql": "date(timezone('UTC', created_at))",
}


def upgrade() -> None:
    op.create_table(
        "legacy_days",
        sa.Column("client_id", sa.Uuid(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        *(
            sa.Column(name, sa.Integer(), nullable=False)
            for name in ("accepted", "refused", "differing")
        ),
        _of_client("legacy_days"),
        sa.PrimaryKeyConstraint("client_id", "day", name=op.f("pk_legacy_days")),
    )
    op.create_table(
        "legacy_exchanges",
        sa.Column("client_id", sa.Uuid(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("request", sa.JSON(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=False),
        sa.Column("shadow_status", sa.Integer(), nullable=False),
        sa.Column("shadow_answer", sa.JSON(), nullable=False),
        _of_client("legacy_exchanges"),
        sa.PrimaryKeyConstraint("client_id", name=op.f("pk_legacy_exchanges")),
    )
    op.create_index(op.f("ix_legacy_exchanges_at"), "legacy_exchanges", ["at"])
    day = DAY[op.get_bind().dialect.name]
    op.execute(f"""
        INSERT INTO legacy_days (client_id, day, accepted, refused, differing)
        SELECT credential_id, {day}, count(*), 0, 0 FROM calls
        WHERE source = 'legacy' AND credential_id IN (SELECT id FROM oauth_clients)
        GROUP BY credential_id, {day}
    """)  # noqa: S608 - both parts are written above


def downgrade() -> None:
    op.drop_index(op.f("ix_legacy_exchanges_at"), table_name="legacy_exchanges")
    op.drop_table("legacy_exchanges")
    op.drop_table("legacy_days")


def _of_client(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["client_id"],
        ["oauth_clients.id"],
        name=op.f(f"fk_{table}_client_id_oauth_clients"),
        ondelete="CASCADE",
    )
