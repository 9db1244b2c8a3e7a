"""The overview: action items, first steps, and figures."""

from app.services.overview.action_items import ActionItem, Kind, action_items
from app.services.overview.figures import Customers, Month, customers, month, newest_organizations
from app.services.overview.portals import Portal, portal_of, portals
from app.services.overview.setup import Step, first_steps, hide_first_steps
