"""Outreach: the contacts of a campaign are called by its plan, once a person has started it."""

from app.services.outreach.acting import pause, start
from app.services.outreach.forecasting import Forecast, forecast
from app.services.outreach.hindering import Hindrance, held_campaigns, hindrance
from app.services.outreach.plans import Plan, change_plan, plan_of, stored_plan
from app.services.outreach.progress import LeftOut, Progress, left_out, progress_of

__all__ = [
    "Forecast",
    "Hindrance",
    "LeftOut",
    "Plan",
    "Progress",
    "change_plan",
    "forecast",
    "held_campaigns",
    "hindrance",
    "left_out",
    "pause",
    "plan_of",
    "progress_of",
    "start",
    "stored_plan",
]
