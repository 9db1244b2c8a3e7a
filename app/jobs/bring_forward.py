"""Looking again at calls that were put off, as a durable workflow.

It keeps nothing of how far it is: what it has moved is put off no more, so after a kill it starts
from its beginning.
"""

from uuid import UUID

from dbos import DBOS

from app.jobs.context import context
from app.jobs.outage import outlasts_outages
from app.services.calls import bringing_forward


@DBOS.workflow(name="bring_forward")
def bring_forward(partner_id: str, organization_id: str) -> None:
    """Of one organization, or of all of the partner's where ``organization_id`` is empty."""
    partner, organization = UUID(partner_id), UUID(organization_id) if organization_id else None
    place = _some(partner, organization, None)
    while place is not None:
        place = _some(partner, organization, place)


@outlasts_outages
def _some(partner_id: UUID, organization_id: UUID | None, after: UUID | None) -> UUID | None:
    with context().database.transaction() as session:
        return bringing_forward.bring_forward(session, partner_id, organization_id, after)
