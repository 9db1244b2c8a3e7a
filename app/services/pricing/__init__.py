"""The plans of partners: edited as a draft, published as versions, sold by a payment processor."""

from app.services.pricing.differences import PlanChange, differences
from app.services.pricing.plans import EditedPlan, PlanTerms, PlanText
from app.services.pricing.prices import options
from app.services.pricing.versions import (
    PlanSet,
    localized_names,
    localized_names_of,
    names,
    published,
)
