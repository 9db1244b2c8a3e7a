"""The overview: action items, first steps, and figures."""

from app.services.overview.action_items import action_items
from app.services.overview.figures import Customers, Month, customers, month
from app.services.overview.items import ActionItem, Kind
from app.services.overview.portals import Portal, portal_of, portals
from app.services.overview.setup import Step, can_call, first_steps, hide_first_steps
