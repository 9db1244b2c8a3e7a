"""Whose rows a transaction may see and write: the second check beneath the services.

PostgreSQL enforces it by row-level security (``migrations/policies.py``). SQLite doesn't know it.
"""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Connection

SCOPE = "scope"
"""Execution option: the scope of a transaction; without it `INSTALLATION`."""
_DECLARE = (
    "SELECT set_config('app.scope', %s, true), set_config('app.partner_id', %s, true), "
    "set_config('app.organization_id', %s, true)"
)


@dataclass(frozen=True, slots=True)
class Scope:
    """``name`` is ``installation``, ``authentication`` or ``partner``."""

    name: str
    partner_id: UUID | None = None
    organization_id: UUID | None = None


INSTALLATION = Scope("installation")
"""All rows: the worker, the command line and operators."""
AUTHENTICATION = Scope("authentication")
"""What is needed before it is known who asks: accounts, credentials and brands."""


def of_tenant(partner_id: UUID, organization_id: UUID | None) -> Scope:
    """The rows of a partner, or of one organization of it."""
    return Scope("partner", partner_id, organization_id)


def declare(connection: Connection, scope: Scope) -> None:
    """Declare the scope to PostgreSQL until the transaction ends."""
    partner, organization = (str(id_ or "") for id_ in (scope.partner_id, scope.organization_id))
    # Past SQLAlchemy, whose listeners would count it among the queries of a page.
    cursor = connection.connection.cursor()
    cursor.execute(_DECLARE, (scope.name, partner, organization))
    cursor.close()
