"""Add consent, call frequency limits and the limits of plans."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0017"
down_revision: str | Sequence[str] | None = "0019"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

REASONS = (
    *("completed", "voicemail", "busy", "no_answer", "rejected", "carrier_error"),
    *("number_invalid", "canceled", "organization_suspended", "agent_inactive"),
    *("do_not_contact", "region_not_allowed", "contact_ended", "expired", "unknown"),
)
NEW = "consent_missing"
TABLES = ("calls", "call_attempts")


def upgrade() -> None:
    for column in ("number_most_calls", "number_most_days"):
        op.add_column("organizations", sa.Column(column, sa.Integer(), nullable=True))
    for name in TABLES:
        _allow(name, (*REASONS, NEW))
    op.create_table(
        "plan_limits",
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column(
            "tier",
            sa.Enum(
                "customerFreePlan",
                "customerBasicPlan",
                "customerPlusPlan",
                "customerBasicFreeTrialPlan",
                name="tier",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("max_calls_at_once", sa.Integer(), nullable=True),
        sa.Column("max_calls_a_day", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "(max_calls_at_once IS NULL OR max_calls_at_once > 0) "
            "AND (max_calls_a_day IS NULL OR max_calls_a_day > 0)",
            name=op.f("ck_plan_limits_positive"),
        ),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_plan_limits_partner_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("partner_id", "tier", name=op.f("pk_plan_limits")),
    )


def downgrade() -> None:
    op.drop_table("plan_limits")
    for name in TABLES:
        op.execute(f"UPDATE {name} SET ended_reason = 'canceled' WHERE ended_reason = '{NEW}'")  # noqa: S608 - constants
        _allow(name, REASONS)
    for column in ("number_most_days", "number_most_calls"):
        op.execute(f"ALTER TABLE organizations DROP COLUMN {column}")  # batch mode rebuilds it


def _allow(table: str, reasons: Sequence[str]) -> None:
    """Replaces the check of a table's reasons."""
    listed = ", ".join(f"'{reason}'" for reason in reasons)
    connection = op.get_bind()
    if connection.dialect.name != "sqlite":
        name = f"ck_{table}_endedreason"
        op.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        op.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} CHECK (ended_reason IN ({listed}))")
        return
    # Rebuilt, the table would take all that refers to it along. SQLite's own procedure for
    # checks: https://www.sqlite.org/lang_altertable.html, "Making Other Kinds Of Schema Changes".
    (sql,) = connection.exec_driver_sql(
        "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)
    ).one()
    head, marker, rest = sql.partition("CHECK (ended_reason IN (")
    changed = head + marker + listed + rest[rest.index(")") :]
    version = connection.exec_driver_sql("PRAGMA schema_version").scalar_one()
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    connection.exec_driver_sql(
        "UPDATE sqlite_master SET sql = ? WHERE type = 'table' AND name = ?", (changed, table)
    )
    connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema = OFF")
