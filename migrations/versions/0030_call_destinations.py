"""Add the operator's and the partners' call destinations.

Each partner has opened what its organizations call, and the hosts that its assistants hand over
to. Satellite networks, which were written 001, can't be called any more.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0030"
down_revision: str | Sequence[str] | None = "0029"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

JSON_TYPE = sa.JSON(none_as_null=True).with_variant(
    postgresql.JSONB(none_as_null=True), "postgresql"
)
SATELLITE = "001"
_HOST = re.compile(r"\w+:(?://)?(?:[^@/?#]*@)?([A-Za-z0-9.-]+)")


def upgrade() -> None:
    op.create_table(
        "installation_destinations",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("regions", JSON_TYPE, nullable=True),
        sa.Column("hosts", JSON_TYPE, nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_installation_destinations_one_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_installation_destinations")),
    )
    own = op.create_table(
        "partner_destinations",
        sa.Column("partner_id", sa.Uuid(), nullable=False),
        sa.Column("regions", JSON_TYPE, nullable=False),
        sa.Column("hosts", JSON_TYPE, nullable=False),
        sa.Column("limit_regions", JSON_TYPE, nullable=True),
        sa.Column("limit_hosts", JSON_TYPE, nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["partner_id"],
            ["partners.id"],
            name=op.f("fk_partner_destinations_partner_id_partners"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("partner_id", name=op.f("pk_partner_destinations")),
    )
    op.add_column("call_attempts", sa.Column("hand_over_to", sa.String(2000), nullable=True))
    connection = op.get_bind()
    regions, hosts = _regions(connection), _hosts(connection)
    rows = [
        {
            "partner_id": partner_id,
            "regions": sorted(regions[partner_id]),
            "hosts": sorted(hosts[partner_id]),
            "version": 1,
        }
        for partner_id in regions.keys() | hosts.keys()
    ]
    if rows:
        op.bulk_insert(own, rows)


def downgrade() -> None:
    op.drop_column("call_attempts", "hand_over_to")
    op.drop_table("partner_destinations")
    op.drop_table("installation_destinations")


def _regions(connection: sa.Connection) -> defaultdict[UUID, set[str]]:
    """What the organizations of each partner may call; satellites are taken off their lists."""
    organizations = sa.table(
        "organizations",
        sa.column("id", sa.Uuid()),
        sa.column("partner_id", sa.Uuid()),
        sa.column("allowed_regions", JSON_TYPE),
    )
    found: defaultdict[UUID, set[str]] = defaultdict(set)
    stored = sa.select(
        organizations.c.id, organizations.c.partner_id, organizations.c.allowed_regions
    )
    for organization_id, partner_id, allowed in connection.execute(stored).all():
        found[partner_id] |= {*allowed} - {SATELLITE}
        if SATELLITE in allowed:
            kept = [region for region in allowed if region != SATELLITE]
            connection.execute(
                sa.update(organizations)
                .where(organizations.c.id == organization_id)
                .values(allowed_regions=kept)
            )
    return found


def _hosts(connection: sa.Connection) -> defaultdict[UUID, set[str]]:
    agents = sa.table(
        "agents", sa.column("partner_id", sa.Uuid()), sa.column("voice_address", sa.String())
    )
    found: defaultdict[UUID, set[str]] = defaultdict(set)
    query = sa.select(agents.c.partner_id, agents.c.voice_address).distinct()
    for partner_id, address in connection.execute(query.where(agents.c.voice_address.is_not(None))):
        if host := _HOST.match(address):
            found[partner_id].add(host[1].lower())
    return found
