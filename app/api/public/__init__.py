"""AREA C: campaign contacts and single outbound calls, for scripts with an x-api-key."""

from app.api.public.agents import list_agents
from app.api.public.blueprint import blueprint
from app.api.public.calls import cancel_call, create_call, get_call, list_calls

__all__ = ["blueprint", "cancel_call", "create_call", "get_call", "list_agents", "list_calls"]
