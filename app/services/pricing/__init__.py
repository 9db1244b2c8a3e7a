"""What the plans of a partner cost: stored prices, refreshed by the worker."""

from app.services.pricing.prices import PlanPrice, PriceStatus, options, plans
