"""Add alert rules, their alerts, the daily totals of ended calls, notifications,
scheduled reports and the check of figures."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations import policies

revision: str = "0046"
down_revision: str | Sequence[str] | None = "0045"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

JSON_TYPE = sa.JSON(none_as_null=True).with_variant(
    postgresql.JSONB(none_as_null=True), "postgresql"
)
MEASURES = (
    "conversations",
    "minutes",
    "answer-rate",
    "failed-calls",
    "spending",
    "limits",
    "silence",
)
IS_NOTIFIED = sa.text(
    "action IN ('alert.opened', 'alert.resolved', 'dialling.paused', 'dialling.resumed', "
    "'mail.failed', 'phone_number.confirmation_ended', 'upload.applied', 'upload.cancelled', "
    "'upload.failed', 'webhook.paused')"
)
COUNT_ENDED_CALLS = """
    INSERT INTO call_days (organization_id, day, partner_id, ended, answered, failed)
    SELECT organization_id, {day}, partner_id, count(*),
        sum(CASE WHEN status = 'completed' THEN 1 ELSE 0 END),
        sum(CASE WHEN status = 'failed' THEN 1 ELSE 0 END)
    FROM calls
    WHERE live AND source <> 'verification' AND ended_at IS NOT NULL
        AND NOT (source = 'test' AND carrier = 'simulator')
        AND status IN ('completed', 'busy', 'no-answer', 'failed')
    GROUP BY organization_id, partner_id, {day}
"""


def upgrade() -> None:
    op.create_table(
        "call_days",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("ended", sa.Integer(), nullable=False),
        sa.Column("answered", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        _organization("call_days"),
        sa.PrimaryKeyConstraint("organization_id", "day", name=op.f("pk_call_days")),
    )
    op.create_index("ix_call_days_partner", "call_days", ["partner_id", "day"])
    op.create_table(
        "alert_rules",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=True),
        _enum("scope", "alertscope", "partner", "each-organization", "organization"),
        _enum("measure", "alertmeasure", *MEASURES),
        sa.Column("threshold", sa.Integer(), nullable=False),
        _enum("period", "alertperiod", "today", "7-days", "30-days", "month", nullable=True),
        sa.Column("by_mail", sa.Boolean(), nullable=False),
        sa.Column("muted_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        _partner("alert_rules"),
        _organization("alert_rules"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_rules")),
    )
    op.create_index("ix_alert_rules_partner_id", "alert_rules", ["partner_id"])
    op.create_table(
        "alerts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("rule_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=True),
        sa.Column("subject_id", sa.Uuid(), nullable=False),
        sa.Column("value", sa.Integer(), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("resolved_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("acknowledged_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("acknowledged_by", sa.String(200), nullable=True),
        _partner("alerts"),
        _organization("alerts"),
        sa.ForeignKeyConstraint(
            ["rule_id"],
            ["alert_rules.id"],
            name=op.f("fk_alerts_rule_id_alert_rules"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alerts")),
    )
    op.create_index("ix_alerts_partner", "alerts", ["partner_id", "id"])
    is_open = sa.text("resolved_at IS NULL")
    op.create_index(
        "uq_alerts_open",
        "alerts",
        ["rule_id", "subject_id"],
        unique=True,
        sqlite_where=is_open,
        postgresql_where=is_open,
    )
    op.create_table(
        "figure_checks",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("figure", sa.String(100), nullable=False),
        sa.Column("counted", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("day", "figure", name=op.f("pk_figure_checks")),
    )
    op.create_table(
        "report_schedules",
        sa.Column("scope", sa.String(100), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("organization_id", sa.Uuid(), nullable=True),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("hour", sa.Integer(), nullable=False),
        sa.Column("timezone", sa.String(100), nullable=False),
        sa.Column("recipients", JSON_TYPE, nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        _partner("report_schedules"),
        _organization("report_schedules"),
        sa.PrimaryKeyConstraint("scope", name=op.f("pk_report_schedules")),
    )
    op.create_index("ix_report_schedules_partner_id", "report_schedules", ["partner_id"])
    op.create_index("ix_report_schedules_next_at", "report_schedules", ["next_at"])
    for table in ("call_days", "alert_rules", "alerts", "report_schedules"):
        policies.by_partner(table, organization="organization_id")
    op.add_column(
        "users", sa.Column("notifications_read_at", sa.DateTime(timezone=True), nullable=True)
    )
    op.create_index(
        "ix_audit_entries_notified",
        "audit_entries",
        ["partner_id", "id"],
        sqlite_where=IS_NOTIFIED,
        postgresql_where=IS_NOTIFIED,
    )
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    day = "date(ended_at)" if is_sqlite else "(ended_at AT TIME ZONE 'UTC')::date"
    op.execute(COUNT_ENDED_CALLS.format(day=day))


def downgrade() -> None:
    op.drop_index("ix_audit_entries_notified", table_name="audit_entries")
    op.drop_column("users", "notifications_read_at")
    for table in ("report_schedules", "figure_checks", "alerts", "alert_rules", "call_days"):
        op.drop_table(table)


def _enum(name: str, kind: str, *values: str, nullable: bool = False) -> sa.Column[str]:
    stored = sa.Enum(*values, name=kind, native_enum=False, create_constraint=True, length=40)
    return sa.Column(name, stored, nullable=nullable)


def _partner(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["partner_id"],
        ["partners.id"],
        name=op.f(f"fk_{table}_partner_id_partners"),
        ondelete="CASCADE",
    )


def _organization(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["partner_id", "organization_id"],
        ["organizations.partner_id", "organizations.id"],
        name=op.f(f"fk_{table}_partner_id_organization_id_organizations"),
        ondelete="CASCADE",
    )
