"""Outreach: calling a campaign's contacts by its plan, after a user has started it."""

from app.services.outreach.blockers import (
    BlockerKind,
    CampaignBlocker,
    any_blocked,
    blocked_campaigns,
    blocker,
)
from app.services.outreach.eligibility import hours_of
from app.services.outreach.estimates import RoundEstimate, estimate, opens_at
from app.services.outreach.forecasting import RoundForecast, forecast
from app.services.outreach.lifecycle import pause, start
from app.services.outreach.plans import (
    CampaignPlan,
    RecallChoice,
    change_plan,
    check_plan,
    plan_of,
    stored_plan,
)
from app.services.outreach.progress import (
    ClosedCountry,
    FinishedRound,
    LeftOut,
    RoundProgress,
    closed_countries,
    finished,
    left_out,
    progress_of,
)
from app.services.outreach.summaries import RoundSummary, summaries_of
