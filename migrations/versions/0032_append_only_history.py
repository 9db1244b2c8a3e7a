"""Make the history append-only, and link its entries by hashes."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from alembic import op

from app.models.base import Json, UtcDateTime
from app.services.audit.chain import FIELDS, WITHOUT_PARTNER, content_of, digest_of, hash_of

revision: str = "0032"
down_revision: str | Sequence[str] | None = "0031"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

APPEND_ONLY = ("audit_entries", "audit_links")
AT_ONCE = 1000

ENTRIES = sa.table(
    "audit_entries",
    sa.column("id", sa.Uuid),
    sa.column("at", UtcDateTime),
    sa.column("partner_id", sa.Uuid),
    sa.column("organization_id", sa.Uuid),
    sa.column("actor_kind"),
    sa.column("actor_id", sa.Uuid),
    sa.column("actor"),
    sa.column("ip"),
    sa.column("request_id"),
    sa.column("action"),
    sa.column("target_type"),
    sa.column("target_id"),
    sa.column("target"),
    sa.column("before", Json),
    sa.column("after", Json),
)


def upgrade() -> None:
    _replace_foreign_key(ondelete=None)
    links = op.create_table(
        "audit_links",
        sa.Column("chain", sa.Uuid(), nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("entry_id", sa.Uuid(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["audit_entries.id"], name=op.f("fk_audit_links_entry_id")
        ),
        sa.PrimaryKeyConstraint("chain", "number", name=op.f("pk_audit_links")),
        sa.UniqueConstraint("entry_id", name=op.f("uq_audit_links_entry_id")),
    )
    op.create_table(
        "audit_forwardings",
        sa.Column("chain", sa.Uuid(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("chain", name=op.f("pk_audit_forwardings")),
    )
    _link_what_is_there(links)
    if op.get_bind().dialect.name == "sqlite":
        for table in APPEND_ONLY:
            for event in ("UPDATE", "DELETE"):
                op.execute(f"""
                    CREATE TRIGGER {table}_refuse_{event.lower()} BEFORE {event} ON {table}
                    BEGIN SELECT RAISE(ABORT, 'The history is append-only.'); END
                """)
        return
    op.execute("""
        CREATE FUNCTION refuse_history_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'The history is append-only.' USING ERRCODE = 'restrict_violation';
        END $$
    """)
    for table in APPEND_ONLY:
        op.execute(f"""
            CREATE TRIGGER {table}_refuse_change BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
            FOR EACH STATEMENT EXECUTE FUNCTION refuse_history_change()
        """)


def downgrade() -> None:
    on_sqlite = op.get_bind().dialect.name == "sqlite"
    for table in APPEND_ONLY:
        if on_sqlite:
            op.execute(f"DROP TRIGGER {table}_refuse_update")
            op.execute(f"DROP TRIGGER {table}_refuse_delete")
        else:
            op.execute(f"DROP TRIGGER {table}_refuse_change ON {table}")
    if not on_sqlite:
        op.execute("DROP FUNCTION refuse_history_change()")
    op.drop_table("audit_forwardings")
    op.drop_table("audit_links")
    _replace_foreign_key(ondelete="CASCADE")


def _replace_foreign_key(*, ondelete: str | None) -> None:
    name = "fk_audit_entries_partner_id"
    with op.batch_alter_table("audit_entries") as table:
        table.drop_constraint(name, type_="foreignkey")
        table.create_foreign_key(name, "partners", ["partner_id"], ["id"], ondelete=ondelete)


def _link_what_is_there(links: sa.Table) -> None:
    connection = op.get_bind()
    partners = connection.scalars(sa.select(ENTRIES.c.partner_id).distinct()).all()
    for partner_id in partners:
        chain, number, previous = partner_id or WITHOUT_PARTNER, 0, ""
        for page in _pages(connection, partner_id):
            rows = []
            for entry in page:
                number += 1
                digest = digest_of(content_of(entry))
                previous = hash_of(previous, chain, number, digest)
                rows.append(
                    {
                        "chain": chain,
                        "number": number,
                        "entry_id": entry["id"],
                        "digest": digest,
                        "hash": previous,
                    }
                )
            connection.execute(sa.insert(links), rows)


def _pages(connection: sa.Connection, partner_id: UUID | None) -> Iterator[list[dict[str, Any]]]:
    after = UUID(int=0)
    while True:
        query = (
            sa.select(*(ENTRIES.c[name] for name in FIELDS))
            .where(ENTRIES.c.partner_id.is_not_distinct_from(partner_id), ENTRIES.c.id > after)
            .order_by(ENTRIES.c.id)
            .limit(AT_ONCE)
        )
        page = [dict(row) for row in connection.execute(query).mappings()]
        if not page:
            return
        yield page
        after = page[-1]["id"]
