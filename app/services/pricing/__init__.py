"""What the plans of a partner cost: stored prices, refreshed by the worker."""

from app.services.pricing.prices import TIER_NAMES, PlanPrice, Standing, options, plans

__all__ = ["TIER_NAMES", "PlanPrice", "Standing", "options", "plans"]
