"""Keep at most one default view of a user for each list."""

from collections.abc import Sequence

import sqlalchemy as sa

from migrations import online

PHASE = "expand"
revision: str = "0114"
down_revision: str | Sequence[str] | None = "0113"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

NEWER_DEFAULT = """is_default AND EXISTS (
    SELECT 1 FROM saved_views AS newer
    WHERE newer.user_id = saved_views.user_id
    AND newer.list_name = saved_views.list_name
    AND newer.is_default
    AND newer.id > saved_views.id
)"""


def upgrade() -> None:
    online.fill("saved_views", "is_default = false", NEWER_DEFAULT)
    condition = sa.text("is_default")
    online.create_index(
        "ix_saved_views_default",
        "saved_views",
        ["user_id", "list_name"],
        unique=True,
        postgresql_where=condition,
        sqlite_where=condition,
    )


def downgrade() -> None:
    online.drop_index("ix_saved_views_default", "saved_views")
