"""Erase people, and let values go from the history while its chain still proves the rest."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from app.models.base import Json
from migrations import checks, policies

revision: str = "0074"
down_revision: str | Sequence[str] | None = "0073"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

FIXED = (
    *("id", "partner_id", "organization_id", "at", "actor_kind", "actor_id", "request_id"),
    *("action", "target_type"),
)
"""What a redaction can't change."""
APPEND_ONLY = "The history is append-only."


def upgrade() -> None:
    op.create_table(
        "erasures",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("partner_id", sa.Uuid(), nullable=True),
        sa.Column("organization_id", sa.Uuid(), nullable=True),
        sa.Column("kind", _one_of("subjectkind", "user", "contact"), nullable=False),
        sa.Column("subject_id", sa.Uuid(), nullable=False),
        sa.Column("pseudonym", sa.String(100), nullable=False),
        sa.Column(
            "state", _one_of("erasurestate", "waiting", "running", "done", "failed"), nullable=False
        ),
        sa.Column("sought", Json, nullable=True),
        sa.Column("counts", Json, nullable=False),
        sa.Column("requested_by", sa.String(200), nullable=False),
        sa.Column("requested_by_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_erasures_partner_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["partner_id", "organization_id"],
            ["organizations.partner_id", "organizations.id"],
            name=op.f("fk_erasures_partner_id_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_erasures")),
    )
    op.create_index("ix_erasures_partner", "erasures", ["partner_id", "id"])
    op.create_index("ix_erasures_subject", "erasures", ["subject_id"])
    policies.by_partner("erasures", organization="organization_id")
    op.create_table(
        "audit_redactions",
        sa.Column("entry_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("chain", sa.Uuid(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("recorded_by", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["audit_entries.id"], name=op.f("fk_audit_redactions_entry_id")
        ),
        sa.ForeignKeyConstraint(
            ["recorded_by"], ["audit_entries.id"], name=op.f("fk_audit_redactions_recorded_by")
        ),
        sa.PrimaryKeyConstraint("entry_id", "number", name=op.f("pk_audit_redactions")),
    )
    op.create_index("ix_audit_redactions_recorded_by", "audit_redactions", ["recorded_by"])
    policies.by_partner("audit_redactions", "chain")
    op.add_column("audit_entries", sa.Column("salt", sa.String(64), nullable=True))
    op.add_column(
        "audit_entries", sa.Column("redacted", sa.Integer(), server_default="0", nullable=False)
    )
    op.create_table(
        "retention_runs",
        sa.Column("kind", sa.String(100), nullable=False),
        sa.Column("ran_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("removed", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("kind", name=op.f("pk_retention_runs")),
    )
    op.add_column("partners", sa.Column("retention_days", Json, nullable=True))
    checks.allow("list_exports", "file_format", "exportformat", "zip")
    if op.get_bind().dialect.name == "sqlite":
        _refuse_on_sqlite()
    else:
        _refuse_on_postgresql()


def downgrade() -> None:
    op.execute("DELETE FROM list_exports WHERE file_format = 'zip'")
    checks.forbid("list_exports", "file_format", "exportformat", "zip")
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TRIGGER audit_entries_refuse_update")
        op.execute(_sqlite_trigger("audit_entries", "UPDATE"))
    else:
        op.execute("DROP TRIGGER audit_entries_refuse_change ON audit_entries")
        op.execute("DROP TRIGGER audit_entries_refuse_truncate ON audit_entries")
        op.execute("DROP FUNCTION refuse_entry_change()")
        op.execute("""
            CREATE TRIGGER audit_entries_refuse_change
            BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
            FOR EACH STATEMENT EXECUTE FUNCTION refuse_history_change()
        """)
    op.drop_table("audit_redactions")
    op.drop_column("audit_entries", "redacted")
    op.drop_column("audit_entries", "salt")
    op.drop_table("erasures")
    op.drop_column("partners", "retention_days")
    op.drop_table("retention_runs")


def _refuse_on_sqlite() -> None:
    op.execute("DROP TRIGGER audit_entries_refuse_update")
    fixed = " AND ".join(f"NEW.{name} IS OLD.{name}" for name in FIXED)
    op.execute(_sqlite_trigger("audit_entries", "UPDATE", f"NOT ({_is_recorded()} AND {fixed})"))
    for event in ("UPDATE", "DELETE"):
        op.execute(_sqlite_trigger("audit_redactions", event))


def _sqlite_trigger(table: str, event: str, condition: str = "1") -> str:
    return f"""
        CREATE TRIGGER {table}_refuse_{event.lower()} BEFORE {event} ON {table}
        WHEN {condition} BEGIN SELECT RAISE(ABORT, '{APPEND_ONLY}'); END
    """


def _refuse_on_postgresql() -> None:
    fixed = " AND ".join(f"NEW.{name} IS NOT DISTINCT FROM OLD.{name}" for name in FIXED)
    op.execute(f"""
        CREATE FUNCTION refuse_entry_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF TG_OP = 'UPDATE' THEN
                IF {_is_recorded()} AND {fixed} THEN RETURN NEW; END IF;
            END IF;
            RAISE EXCEPTION '{APPEND_ONLY}' USING ERRCODE = 'restrict_violation';
        END $$
    """)
    op.execute("DROP TRIGGER audit_entries_refuse_change ON audit_entries")
    op.execute("""
        CREATE TRIGGER audit_entries_refuse_change BEFORE UPDATE OR DELETE ON audit_entries
        FOR EACH ROW EXECUTE FUNCTION refuse_entry_change()
    """)
    op.execute("""
        CREATE TRIGGER audit_entries_refuse_truncate BEFORE TRUNCATE ON audit_entries
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_history_change()
    """)
    op.execute("""
        CREATE TRIGGER audit_redactions_refuse_change
        BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_redactions
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_history_change()
    """)


def _is_recorded() -> str:
    """Whether the next redaction of the entry was written before."""
    return (
        "NEW.redacted = OLD.redacted + 1 AND EXISTS (SELECT 1 FROM audit_redactions r "
        "WHERE r.entry_id = OLD.id AND r.number = NEW.redacted)"
    )


def _one_of(name: str, *values: str) -> sa.Enum:
    return sa.Enum(*values, name=name, native_enum=False, create_constraint=True, length=40)
