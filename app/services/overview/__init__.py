"""The overview: action items, first steps, and figures."""

from app.services.overview.action_items import find_action_items
from app.services.overview.call import CallSurroundings, call_with_surroundings
from app.services.overview.figures import OverviewMonth, month, organization_figures
from app.services.overview.items import ActionItem, ActionItemKind
from app.services.overview.organization import (
    OrganizationHead,
    OrganizationNumbers,
    head_of,
    numbers_of,
)
from app.services.overview.partner_overviews import list_partners, overview_of
from app.services.overview.setup import SetupStep, can_call, hide_first_steps
