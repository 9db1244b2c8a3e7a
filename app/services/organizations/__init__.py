"""Organizations, the partners' customers: who may see which, their plans, limits and state."""

from app.services.organizations.assistants import (
    add_agent,
    configure_agent,
    define_external_id_key,
)
from app.services.organizations.changing import create, resume, suspend, update
from app.services.organizations.limits import claim_agent_place, claim_seat
from app.services.organizations.loading import check, get, get_in, listing, search
from app.services.organizations.resource import to_resource
from app.services.organizations.use import Use, names_of, use_of

__all__ = [
    "Use",
    "add_agent",
    "check",
    "claim_agent_place",
    "claim_seat",
    "configure_agent",
    "create",
    "define_external_id_key",
    "get",
    "get_in",
    "listing",
    "names_of",
    "resume",
    "search",
    "suspend",
    "to_resource",
    "update",
    "use_of",
]
