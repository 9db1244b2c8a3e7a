"""Organizations, the partners' customers: who may see which, their plans, limits and state."""

from app.services.organizations.assistants import add_agent
from app.services.organizations.changing import create, resume, suspend, update
from app.services.organizations.limits import claim_agent_place, claim_seat
from app.services.organizations.loading import get, get_in, listing, search
from app.services.organizations.resource import to_resource

__all__ = [
    "add_agent",
    "claim_agent_place",
    "claim_seat",
    "create",
    "get",
    "get_in",
    "listing",
    "resume",
    "search",
    "suspend",
    "to_resource",
    "update",
]
