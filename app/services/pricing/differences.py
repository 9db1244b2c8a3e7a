"""The differences between two sets of plans."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from app.enums import Tier
from app.services.pricing.plans import EditedPlan, outside_id


@dataclass(frozen=True, slots=True)
class PlanChange:
    """A field of a plan that differs; ``name`` is ``order`` for the plan's place."""

    tier: Tier
    name: str
    old: Any
    new: Any


def differences(old: Sequence[EditedPlan], new: Sequence[EditedPlan]) -> list[PlanChange]:
    """Return the fields in which two sets of plans differ, plan by plan in the new order."""
    before = {plan.tier: (position, plan) for position, plan in enumerate(old, 1)}
    changes: list[PlanChange] = []
    for position, plan in enumerate(new, 1):
        old_position, old_plan = before[plan.tier]
        values, old_values = _plan_values(plan, position), _plan_values(old_plan, old_position)
        changes += [
            PlanChange(plan.tier, name, old_values[name], value)
            for name, value in values.items()
            if value != old_values[name]
        ]
    return changes


def _plan_values(plan: EditedPlan, position: int) -> Mapping[str, Any]:
    """Return the fields that a user edits; an id that publishing gave is none."""
    values = {field.name: getattr(plan, field.name) for field in fields(plan)}
    for name in ("price_id", "product_id"):
        values[name] = outside_id(values[name])
    del values["tier"], values["terms"]
    price = {field.name: getattr(plan.terms, field.name) for field in fields(plan.terms)}
    return {"name": values.pop("name"), **price, **values, "order": position}
