"""Sessions bound to a host, offered accounts, email changes, and who answers for credentials."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0031"
down_revision: str | Sequence[str] | None = "0030"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

MADE = (
    ("oauth_clients", "responsible_id", "client", ("client.created", "client.rolled")),
    ("api_keys", "responsible_id", "api_key", ("key.created", "key.rolled")),
    ("webhook_endpoints", "responsible_id", "webhook", ("webhook.created",)),
    ("carrier_accounts", "responsible_id", "carrier_account", ("carrier_account.saved",)),
    ("users", "invited_by_id", "user", ("user.created", "user.invited")),
)
"""Table, column, kind of target, and the actions of the history that say who it was."""


def upgrade() -> None:
    op.execute("DELETE FROM portal_sessions")  # their host is unknown: everyone signs in again
    with op.batch_alter_table("portal_sessions") as table:
        table.add_column(sa.Column("host", sa.String(200), nullable=False))
    op.create_table(
        "offered_accounts",
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("browser_hash", sa.String(64), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
            name=op.f("fk_offered_accounts_user_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("token_hash", "user_id", name=op.f("pk_offered_accounts")),
    )
    for column in ("user_id", "browser_hash", "expires_at"):
        op.create_index(op.f(f"ix_offered_accounts_{column}"), "offered_accounts", [column])
    op.create_table(
        "email_changes",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("email", sa.String(254), nullable=False),
        sa.Column("requested_by", sa.String(200), nullable=False),
        sa.Column("requested_by_id", sa.Uuid(), nullable=True),
        sa.Column("old_token_hash", sa.String(64), nullable=True),
        sa.Column("new_token_hash", sa.String(64), nullable=True),
        sa.Column("old_confirmed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("new_confirmed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_email_changes_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_email_changes")),
        sa.UniqueConstraint("user_id", name=op.f("uq_email_changes_user_id")),
        sa.UniqueConstraint("old_token_hash", name=op.f("uq_email_changes_old_token_hash")),
        sa.UniqueConstraint("new_token_hash", name=op.f("uq_email_changes_new_token_hash")),
    )
    for column in ("requested_by_id", "expires_at"):
        op.create_index(op.f(f"ix_email_changes_{column}"), "email_changes", [column])
    for name, column, kind, actions in MADE:
        op.add_column(name, sa.Column(column, sa.Uuid(), nullable=True))
        op.create_index(op.f(f"ix_{name}_{column}"), name, [column])
        _fill_from_history(name, column, kind, actions)


def downgrade() -> None:
    for name, column, _kind, _actions in MADE:
        op.drop_index(op.f(f"ix_{name}_{column}"), name)
        op.drop_column(name, column)
    op.drop_table("email_changes")
    op.drop_table("offered_accounts")
    with op.batch_alter_table("portal_sessions") as table:
        table.drop_column("host")


def _fill_from_history(name: str, column: str, kind: str, actions: tuple[str, ...]) -> None:
    """The last entry of these actions names who it was. History has ids with their hyphens."""
    written = f"CAST({name}.id AS text)"
    if op.get_bind().dialect.name == "sqlite":
        bounds = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
        written = " || '-' || ".join(f"substr({name}.id, {at}, {size})" for at, size in bounds)
    listed = ", ".join(f"'{action}'" for action in actions)
    op.execute(f"""
        UPDATE {name} SET {column} = (
            SELECT actor_id FROM audit_entries a
            WHERE a.target_type = '{kind}' AND a.target_id = {written} AND a.action IN ({listed})
            ORDER BY a.id DESC LIMIT 1
        )
    """)  # noqa: S608 - made of the names above
