"""The first page: what needs a decision, what a new partner has yet to set up, the figures."""

from app.services.overview.figures import Month, Standing, month, newest_organizations, standing
from app.services.overview.matters import Kind, Matter, matters
from app.services.overview.portals import Portal, portals
from app.services.overview.setup import Step, steps_left

__all__ = [
    "Kind",
    "Matter",
    "Month",
    "Portal",
    "Standing",
    "Step",
    "matters",
    "month",
    "newest_organizations",
    "portals",
    "standing",
    "steps_left",
]
