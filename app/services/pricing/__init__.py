"""The prices of a partner's plans, refreshed by the worker."""

from app.services.pricing.prices import PlanPrice, PriceStatus, options, plans
