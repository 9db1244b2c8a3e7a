"""Giving an organization an assistant, within its limit."""

from typing import Any
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.errors import ValidationFailed
from app.models import Agent, ExternalIdKey, Organization, new_id
from app.policy.caller import Caller
from app.services import audit

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
    _check_limit(session, organization.id)
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


def _check_limit(session: Session, organization_id: UUID) -> None:
    """Check that one more assistant fits; a limit of 0 is no limit.

    The organization's row stays locked until the transaction ends, so that only one of several
    gets the last place. Raises `ValidationFailed` (``agent_limit_reached``).
    """
    organization = session.scalars(
        select(Organization)
        .where(Organization.id == organization_id)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).one()
    taken = session.scalar(
        select(func.count()).select_from(Agent).where(Agent.organization_id == organization_id)
    )
    if organization.agent_limit and (taken or 0) >= organization.agent_limit:
        message = (
            f"{organization.name} has {taken} of {organization.agent_limit} assistants. Raise "
            "its assistant limit first."
        )
        raise ValidationFailed(message, "agent_limit_reached")


def configure_agent(session: Session, caller: Caller, agent: Agent, **values: Any) -> Agent:
    """Sets fields of an assistant (names of `Agent`). The assistant must come from its loader.

    Raises `ValidationFailed` (``phone_number_taken``) where another assistant of the
    organization has the number.
    """
    before = {name: getattr(agent, name) for name in values}
    for name, value in values.items():
        setattr(agent, name, value)
    agent.version += 1
    try:
        with session.begin_nested():
            session.flush()
    except IntegrityError as error:
        message = "Another assistant of the organization has this number."
        raise ValidationFailed.on("phoneNumber", "phone_number_taken", message) from error
    audit.record(
        session,
        caller,
        action="agent.updated",
        target_type="agent",
        target_id=agent.id,
        partner_id=agent.partner_id,
        organization_id=agent.organization_id,
        target=agent.name,
        before=before,
        after=values,
    )
    return agent


def define_external_id_key(
    session: Session, caller: Caller, agent: Agent, key: str, *, identifies: bool = False
) -> ExternalIdKey:
    """Adds a key to the assistant's external-id settings, or says anew what it means."""
    found = session.get(ExternalIdKey, (agent.id, key))
    if found is None:
        found = ExternalIdKey(agent_id=agent.id, key=key, organization_id=agent.organization_id)
        session.add(found)
    found.identifies = identifies
    session.flush()
    audit.record(
        session,
        caller,
        action="agent.external_id_key_defined",
        target_type="agent",
        target_id=agent.id,
        partner_id=agent.partner_id,
        organization_id=agent.organization_id,
        target=agent.name,
        after={"key": key, "identifies": identifies},
    )
    return found
