"""Outreach: calling a campaign's contacts by its plan, after a user has started it."""

from app.services.outreach.blockers import CampaignBlocker, any_blocked, blocked_campaigns, blocker
from app.services.outreach.eligibility import hours_of
from app.services.outreach.estimates import Estimate, estimate
from app.services.outreach.finished import Finished, finished
from app.services.outreach.forecasting import Forecast, forecast
from app.services.outreach.lifecycle import pause, start
from app.services.outreach.plans import Plan, Recall, change_plan, plan_of, stored_plan
from app.services.outreach.progress import (
    ClosedCountry,
    LeftOut,
    Progress,
    closed_countries,
    left_out,
    progress_of,
)
from app.services.outreach.summaries import Summary, summaries_of
