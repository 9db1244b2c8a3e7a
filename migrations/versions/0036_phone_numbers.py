"""Numbers that calls come from belong to one organization; attempts keep their attestation."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

from migrations import policies

revision: str = "0036"
down_revision: str | Sequence[str] | None = "0035"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

SOURCES = ("assigned", "carrier-list", "verification-call", "simulated")


def upgrade() -> None:
    numbers = op.create_table(
        "phone_numbers",
        sa.Column("number", sa.String(16), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=True),
        sa.Column(
            "source",
            sa.Enum(
                *SOURCES,
                name="numbersource",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("confirmed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("confirmed_by", sa.String(200), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "source <> 'simulated' OR confirmed_at IS NULL", name=op.f("ck_phone_numbers_simulated")
        ),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_phone_numbers_partner_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["partner_id", "organization_id"],
            ["organizations.partner_id", "organizations.id"],
            name=op.f("fk_phone_numbers_partner_id_organization_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["carrier_accounts.id"],
            name=op.f("fk_phone_numbers_account_id"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_phone_numbers")),
    )
    op.create_index("ix_phone_numbers_partner", "phone_numbers", ["partner_id", "number"])
    op.create_index("ix_phone_numbers_organization", "phone_numbers", ["organization_id", "number"])
    op.create_index(op.f("ix_phone_numbers_account_id"), "phone_numbers", ["account_id"])
    op.create_table(
        "carrier_number_lists",
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("works", sa.Boolean(), nullable=True),
        sa.Column("words", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["carrier_accounts.id"],
            name=op.f("fk_carrier_number_lists_account_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_carrier_number_lists")),
    )
    op.add_column("call_attempts", sa.Column("attestation", sa.String(1), nullable=True))
    rows = list(_numbers_in_use(op.get_bind()))
    if rows:
        op.bulk_insert(numbers, rows)
    policies.by_partner("phone_numbers", organization="organization_id")
    policies.by_parent("carrier_number_lists", "account_id", "carrier_accounts")


def downgrade() -> None:
    op.drop_column("call_attempts", "attestation")
    for table in ("carrier_number_lists", "phone_numbers"):
        policies.remove(table)
        op.drop_table(table)


def _numbers_in_use(connection: sa.Connection) -> Iterator[dict[str, Any]]:
    """Each number with the organization whose assistant is the oldest that has it."""
    agents = sa.table(
        "agents",
        sa.column("id", sa.Uuid()),
        sa.column("partner_id", sa.Uuid()),
        sa.column("organization_id", sa.Uuid()),
        sa.column("phone_number", sa.String()),
        sa.column("created_at", sa.DateTime(timezone=True)),
    )
    query = (
        sa.select(agents.c.phone_number, agents.c.partner_id, agents.c.organization_id)
        .where(agents.c.phone_number.is_not(None))
        .order_by(agents.c.created_at, agents.c.id)
    )
    now, seen = datetime.now(UTC), set()
    for number, partner_id, organization_id in connection.execute(query):
        if number in seen:
            continue
        seen.add(number)
        yield {
            "number": number,
            "partner_id": partner_id,
            "organization_id": organization_id,
            "source": "assigned",
            "confirmed_at": now,
            "confirmed_by": "migration",
            "version": 1,
            "created_at": now,
        }
