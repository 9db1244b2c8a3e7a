"""Note the mails about the end of credentials, and requests for a fresh company sign-in."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0075"
down_revision: str | Sequence[str] | None = "0074"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_TABLES = ("oauth_clients", "api_keys", "scim_tokens")


def upgrade() -> None:
    for table in _TABLES:
        op.add_column(table, sa.Column("end_notice", sa.Integer(), nullable=True))
    again: sa.Column[bool] = sa.Column(
        "again", sa.Boolean(), nullable=False, server_default=sa.false()
    )
    op.add_column("identity_requests", again)


def downgrade() -> None:
    op.drop_column("identity_requests", "again")
    for table in _TABLES:
        op.drop_column(table, "end_notice")
