"""Giving an organization an assistant, within its limit."""

from sqlalchemy.orm import Session

from app.caller import Caller
from app.models import Agent, Organization, new_id
from app.services import audit
from app.services.organizations.limits import claim_agent_place

DEFAULT_NAME = "Assistant"


def add_agent(
    session: Session,
    caller: Caller,
    organization: Organization,
    *,
    name: str | None,
    service: str | None = None,
    timezone: str | None = None,
) -> Agent:
    """A new assistant, without a phone yet. Raises `ValidationFailed` (``agent_limit_reached``).

    The organization must come from its loader: that is what allows it.
    """
    claim_agent_place(session, organization.id)
    agent = Agent(
        id=new_id(),
        partner_id=organization.partner_id,
        organization_id=organization.id,
        name=name or DEFAULT_NAME,
        service=service,
        timezone=timezone,
    )
    session.add(agent)
    session.flush()
    audit.record(
        session,
        caller,
        action="agent.created",
        target_type="agent",
        target_id=agent.id,
        partner_id=organization.partner_id,
        organization_id=organization.id,
        target=agent.name,
        after={"name": agent.name, "service": service, "timezone": timezone},
    )
    return agent
