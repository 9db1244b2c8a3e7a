"""AREA C: campaign contacts and single outbound calls, for scripts with an x-api-key."""

from app.api.public.assistants import list_agents
from app.api.public.blueprint import blueprint
from app.api.public.calls import cancel_call, create_call, get_call, list_calls
from app.api.public.campaigns import list_campaigns
from app.api.public.contacts import get_contact, list_contacts, send_contacts
