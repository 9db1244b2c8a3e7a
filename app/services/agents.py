"""Assistants: the one loader that everything fetches them through, and the list for scripts."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from app.caller import Caller
from app.errors import NotFound
from app.models import Agent, Organization


def get(session: Session, caller: Caller, agent_id: UUID | str) -> Agent:
    """The assistant, if it is the caller's to see; `NotFound` (``agent_not_found``) otherwise."""
    identifier = _as_uuid(agent_id)
    agent = None
    if identifier is not None:
        query = visible(caller).where(Agent.id == identifier)
        agent = session.scalars(query).one_or_none()
    if agent is None:
        message = "There is no such assistant."
        raise NotFound(message, "agent_not_found")
    return agent


def list_all(session: Session, caller: Caller) -> Sequence[Agent]:
    """Every assistant the caller may use, in a stable order."""
    return session.scalars(visible(caller).order_by(Agent.created_at, Agent.id)).all()


def of_organization(session: Session, caller: Caller, organization_id: UUID) -> Sequence[Agent]:
    """The organization's assistants that the caller may see, in a stable order."""
    query = visible(caller).where(Agent.organization_id == organization_id)
    return session.scalars(query.order_by(Agent.created_at, Agent.id)).all()


def with_organizations(session: Session, caller: Caller, limit: int) -> list[tuple[Agent, str]]:
    """The first ``limit`` assistants by name, each with its organization's name, for a choice."""
    query = visible(caller).join(Organization, Organization.id == Agent.organization_id)
    named = query.add_columns(Organization.name).order_by(Agent.name, Agent.id).limit(limit)
    return [(row[0], row[1]) for row in session.execute(named).all()]


def find_by_number(session: Session, caller: Caller, phone_number: str) -> Agent:
    """The assistant that calls from this number; `NotFound` (``agent_not_found``) otherwise."""
    agent = session.scalars(visible(caller).where(Agent.phone_number == phone_number)).one_or_none()
    if agent is None:
        message = "No assistant of the organization has this number."
        raise NotFound(message, "agent_not_found")
    return agent


def visible(caller: Caller) -> Select[Agent]:
    query = select(Agent)
    if caller.organization_id is not None:
        return query.where(Agent.organization_id == caller.organization_id)
    if caller.partner_id is not None:
        return query.where(Agent.partner_id == caller.partner_id)
    return query if caller.is_operator else query.where(Agent.id.is_(None))


def _as_uuid(value: UUID | str) -> UUID | None:
    if isinstance(value, UUID):
        return value
    try:
        return UUID(value)
    except ValueError:
        return None
