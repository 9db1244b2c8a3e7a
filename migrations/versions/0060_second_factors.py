"""Let users sign in with a second factor or a passkey, and partners require one."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from migrations import policies

revision: str = "0060"
down_revision: str | Sequence[str] | None = "0054"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ALL = ("ALL",)
USED = ("SELECT", "UPDATE")
TABLES = {
    "authenticator_apps": USED,
    "recovery_codes": USED,
    "passkeys": USED,
    "passkey_challenges": ALL,
    "pending_sign_ins": ALL,
    "remembered_browsers": ALL,
}
"""With what signing in does with their rows."""


def upgrade() -> None:
    _create_tables()
    for table, commands in TABLES.items():
        policies.by_parent(table, "user_id", "users")
        policies.allow_authentication(table, *commands)
    op.add_column("users", sa.Column("second_factor_at", _time(), nullable=True))
    op.add_column("portal_sessions", sa.Column("factor", sa.String(100), nullable=True))
    op.add_column("portal_sessions", sa.Column("proven_at", _time(), nullable=True))
    op.add_column(
        "partners",
        sa.Column("second_factor_for", sa.String(100), nullable=False, server_default="none"),
    )
    op.add_column("partners", sa.Column("session_hours", sa.Integer(), nullable=True))
    op.add_column("partners", sa.Column("idle_minutes", sa.Integer(), nullable=True))


def downgrade() -> None:
    for column in ("idle_minutes", "session_hours", "second_factor_for"):
        op.drop_column("partners", column)
    for column in ("proven_at", "factor"):
        op.drop_column("portal_sessions", column)
    op.drop_column("users", "second_factor_at")
    for table in TABLES:
        op.drop_table(table)


def _create_tables() -> None:
    op.create_table(
        "authenticator_apps",
        _user(),
        sa.Column("secret", sa.String(1000), nullable=False),
        sa.Column("last_step", sa.BigInteger(), nullable=True),
        sa.Column("created_at", _time(), nullable=False),
        sa.Column("confirmed_at", _time(), nullable=True),
        *_keys("authenticator_apps", "user_id"),
    )
    op.create_table(
        "recovery_codes",
        sa.Column("code_hash", sa.String(64), nullable=False),
        _user(),
        sa.Column("created_at", _time(), nullable=False),
        sa.Column("used_at", _time(), nullable=True),
        *_keys("recovery_codes", "code_hash"),
    )
    op.create_table(
        "passkeys",
        sa.Column("id", sa.Uuid(), nullable=False),
        _user(),
        sa.Column("credential_hash", sa.String(64), nullable=False),
        sa.Column("credential_id", sa.Text(), nullable=False),
        sa.Column("public_key", sa.Text(), nullable=False),
        sa.Column("sign_count", sa.BigInteger(), nullable=False),
        sa.Column("rp_id", sa.String(200), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("created_at", _time(), nullable=False),
        sa.Column("used_at", _time(), nullable=True),
        sa.UniqueConstraint("credential_hash", name="uq_passkeys_credential_hash"),
        *_keys("passkeys", "id"),
    )
    op.create_table(
        "passkey_challenges",
        sa.Column("challenge_hash", sa.String(64), nullable=False),
        _user(nullable=True),
        sa.Column("purpose", sa.String(100), nullable=False),
        sa.Column("host", sa.String(200), nullable=False),
        sa.Column("expires_at", _time(), nullable=False),
        *_keys("passkey_challenges", "challenge_hash"),
    )
    op.create_table(
        "pending_sign_ins",
        sa.Column("token_hash", sa.String(64), nullable=False),
        _user(),
        sa.Column("host", sa.String(200), nullable=False),
        sa.Column("expires_at", _time(), nullable=False),
        *_keys("pending_sign_ins", "token_hash"),
    )
    op.create_table(
        "remembered_browsers",
        sa.Column("token_hash", sa.String(64), nullable=False),
        _user(),
        sa.Column("created_at", _time(), nullable=False),
        sa.Column("expires_at", _time(), nullable=False),
        *_keys("remembered_browsers", "token_hash", "user_id"),
    )
    for table in TABLES:
        if table != "authenticator_apps":
            op.create_index(f"ix_{table}_user_id", table, ["user_id"])
    for table in ("passkey_challenges", "pending_sign_ins", "remembered_browsers"):
        op.create_index(f"ix_{table}_expires_at", table, ["expires_at"])


def _user(*, nullable: bool = False) -> sa.Column[object]:
    return sa.Column("user_id", sa.Uuid(), nullable=nullable)


def _keys(table: str, *primary: str) -> tuple[sa.Constraint, sa.Constraint]:
    return (
        sa.PrimaryKeyConstraint(*primary, name=f"pk_{table}"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=f"fk_{table}_user_id", ondelete="CASCADE"
        ),
    )


def _time() -> sa.DateTime:
    return sa.DateTime(timezone=True)
