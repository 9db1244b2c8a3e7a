"""Keep the answers of the payment processor by partner: partners have accounts of their own.

The tables before had only the price id as their key, which no migration can change while the
previous version serves. So there are new ones; the previous version goes on with its own,
``processor_prices`` and ``processor_checks``, which a later contract migration drops. Both hold only
what the processor last answered. As long as the versions run side by side, a new price id may need
a second attempt at saving, because the worker of the other version stores its answer.

Known prices are copied, so that customers see them until the worker has queried them again: at
once, because checks are not copied. Those of an id that partners with different accounts name are
left out, because it is unknown whose they are.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from migrations import policies

PHASE = "expand"
revision: str = "0115"
down_revision: str | Sequence[str] | None = "0114"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

COPY = """
    INSERT INTO partner_processor_prices
        (partner_id, price_id, product_id, name, cost, currency, interval, fetched_at)
    SELECT DISTINCT entry.partner_id, price.price_id, price.product_id, price.name, price.cost,
        price.currency, price.interval, price.fetched_at
    FROM processor_prices AS price
    JOIN partner_pricing AS entry ON entry.processor_price_id = price.price_id
    WHERE price.price_id IN (
        SELECT named.processor_price_id FROM partner_pricing AS named
        LEFT JOIN processor_accounts AS account ON account.partner_id = named.partner_id
        GROUP BY named.processor_price_id
        HAVING count(DISTINCT named.partner_id) = 1 OR count(account.partner_id) = 0
    )
"""


def upgrade() -> None:
    op.create_table(
        "partner_processor_prices",
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("price_id", sa.String(length=200), nullable=False),
        sa.Column("product_id", sa.String(length=200), nullable=True),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("cost", sa.Numeric(precision=12, scale=4), nullable=False),
        sa.Column("currency", sa.String(length=100), nullable=False),
        sa.Column("interval", sa.String(length=100), nullable=True),
        sa.Column("fetched_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_partner_processor_prices_partner_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("partner_id", "price_id", name=op.f("pk_partner_processor_prices")),
    )
    op.create_table(
        "partner_processor_checks",
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("price_id", sa.String(length=200), nullable=False),
        sa.Column("found", sa.Boolean(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_partner_processor_checks_partner_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("partner_id", "price_id", name=op.f("pk_partner_processor_checks")),
    )
    if op.get_context().dialect.name == "postgresql":
        op.execute("SELECT set_config('app.scope', 'installation', true)")
    op.execute(COPY)
    policies.by_partner("partner_processor_prices")
    policies.by_partner("partner_processor_checks")
    # As `partner_pricing`, to which they belong: pages before signing in name plans.
    policies.allow_authentication("partner_processor_prices", "SELECT")


def downgrade() -> None:
    op.drop_table("partner_processor_checks")
    op.drop_table("partner_processor_prices")
