"""Keep copies of brand pictures on other hosts; a tagline and a logo for dark backgrounds."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

from migrations import policies

revision: str = "0045"
down_revision: str | Sequence[str] | None = "0044"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

STORED = re.compile(r"/brand/images/[0-9a-f]{64}\Z")


def upgrade() -> None:
    pictures = op.create_table(
        "outside_pictures",
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column(
            "kind",
            sa.Enum(
                "logo",
                "hero",
                "favicon",
                name="imagetype",
                native_enum=False,
                create_constraint=True,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("url", sa.String(length=2000), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("etag", sa.String(length=200), nullable=True),
        sa.Column("sha256", sa.String(length=64), nullable=True),
        sa.Column("content_type", sa.String(length=100), nullable=True),
        sa.Column("width", sa.Integer(), nullable=True),
        sa.Column("height", sa.Integer(), nullable=True),
        sa.Column("size", sa.Integer(), nullable=True),
        sa.Column("data", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_outside_pictures_partner_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("partner_id", "kind", name=op.f("pk_outside_pictures")),
    )
    op.create_index(op.f("ix_outside_pictures_sha256"), "outside_pictures", ["sha256"])
    op.add_column("partners", sa.Column("tagline", sa.String(length=200), nullable=True))
    op.add_column("partners", sa.Column("dark_logo_url", sa.String(length=2000), nullable=True))
    _ask_for_pictures(pictures)
    policies.by_partner("outside_pictures")
    policies.allow_authentication("outside_pictures", "SELECT")


def downgrade() -> None:
    for column in ("dark_logo_url", "tagline"):
        op.drop_column("partners", column)
    op.drop_table("outside_pictures")


def _ask_for_pictures(pictures: sa.Table) -> None:
    """Have every picture on another host fetched: the worker finds that it is due."""
    bind = op.get_bind()
    images = sa.table(
        "partner_site_images",
        sa.column("partner_id", sa.Uuid()),
        *(sa.column(name) for name in ("type", "image_url", "position")),
    )
    partners = sa.table("partners", sa.column("id", sa.Uuid()), sa.column("logo_img_url"))
    by_type = sa.select(images.c.partner_id, images.c.type, images.c.image_url)
    by_type = by_type.order_by(images.c.position.desc())
    logos = sa.select(partners.c.id, sa.literal("logo"), partners.c.logo_img_url)
    logos = logos.where(partners.c.logo_img_url.is_not(None))
    found = {
        (partner_id, kind): url
        for partner_id, kind, url in [*bind.execute(by_type), *bind.execute(logos)]
    }
    rows = [
        {
            "partner_id": owner,
            "kind": kind,
            "url": url,
            "asked_at": datetime(2000, 1, 1, tzinfo=UTC),
        }
        for (owner, kind), url in found.items()
        if not STORED.search(url)
    ]
    if rows:
        op.bulk_insert(pictures, rows)
