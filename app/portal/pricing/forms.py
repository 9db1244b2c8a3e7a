"""The prices of the plans: each plan once, by the processor's ids."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

from wtforms import Form, FormField, StringField
from wtforms.fields import Field

from app.enums import TIER_NAMES, Tier
from app.errors import Problem, ValidationFailed
from app.portal.web.editing import Difference
from app.portal.web.fields import VersionField
from app.portal.web.forms import PortalForm

OFFERED = (Tier.FREE, Tier.BASIC, Tier.PLUS)
"""The plans that can have a price in the contract, by size."""


class PlanRow(Form):
    price_id = StringField("Price id", render_kw={"maxlength": 200, "spellcheck": "false"})
    product_id = StringField("Product id", render_kw={"maxlength": 200, "spellcheck": "false"})


class PricingForm(PortalForm):
    """A plan with two blank ids is not offered."""

    version = VersionField()
    free = FormField(PlanRow, label=TIER_NAMES[Tier.FREE])
    basic = FormField(PlanRow, label=TIER_NAMES[Tier.BASIC])
    plus = FormField(PlanRow, label=TIER_NAMES[Tier.PLUS])

    @property
    def rows(self) -> Iterator[tuple[Tier, PlanRow]]:
        yield from zip(
            OFFERED, (field.form for field in (self.free, self.basic, self.plus)), strict=True
        )

    @classmethod
    def showing(cls, pricing: Sequence[Mapping[str, Any]] | None, version: int) -> "PricingForm":
        """Return the form filled with the contract's ``pricing``; of a repeated plan, the first
        entry."""
        form = cls.from_object(data={"version": version})
        for tier, row in form.rows:
            entry = next((e for e in pricing or () if e["tier"] == tier.value), None)
            row.price_id.data = entry["processorPriceId"] if entry else ""
            row.product_id.data = entry["processorProductId"] if entry else ""
        return form

    def to_pricing(self, stored: Sequence[Mapping[str, Any]] | None) -> list[dict[str, Any]] | None:
        """Return the contract's ``pricing``: existing entries in their order, then new ones.

        Raises `ValidationFailed` if one of a plan's two ids is missing.
        """
        typed = {tier.value: _typed(row) for tier, row in self.rows}
        self._refuse_half(typed)
        ids = {entry["tier"]: entry["id"] for entry in reversed(stored or ())}
        entries = [
            {
                **({"id": ids[tier]} if tier in ids else {}),
                "tier": tier,
                "processorPriceId": typed[tier][0],
                "processorProductId": typed[tier][1],
            }
            for tier in _in_order(typed, stored)
            if all(typed[tier])
        ]
        return entries or (None if stored is None else [])

    def differences(self, stored: Self) -> list[Difference]:
        return [
            Difference(
                f"{TIER_NAMES[tier]}, {mine.label.text.lower()}", _shown(mine), _shown(theirs)
            )
            for (tier, row), (_tier, other) in zip(self.rows, stored.rows, strict=True)
            for mine, theirs in zip(row, other, strict=True)
            if _shown(mine) != _shown(theirs)
        ]

    def show_problems(
        self, problems: Sequence[Problem], stored: Sequence[Mapping[str, Any]] | None
    ) -> list[tuple[str, str]]:
        """Puts each problem of what `to_pricing` made at its field; returns all as (id, words),
        with the plan's name."""
        rest = []
        rows = {tier.value: row for tier, row in self.rows}
        filled = [tier for tier in _in_order(rows, stored) if all(_typed(rows[tier]))]
        for problem in problems:
            place = problem.field.split(".")
            tier = _tier_of(place, filled)
            if tier is None:
                rest.append(("", problem.message))
                continue
            row = rows[tier]
            field = row.product_id if place[-1] == "processorProductId" else row.price_id
            field.errors = (*field.errors, problem.message)
            label = f"{TIER_NAMES[Tier(tier)]}, {field.label.text.lower()}"
            rest.append((field.id, f"{label}: {problem.message}"))
        return rest

    def _refuse_half(self, typed: Mapping[str, tuple[str, str]]) -> None:
        problems = []
        for tier, (price_id, product_id) in typed.items():
            if price_id and not product_id:
                words = "Enter the product id of this price."
                problems.append(Problem(f"pricing.{tier}.processorProductId", "required", words))
            elif product_id and not price_id:
                words = "Enter the price id of this product."
                problems.append(Problem(f"pricing.{tier}.processorPriceId", "required", words))
        if problems:
            raise ValidationFailed.of(*problems)


def _in_order(tiers: Iterable[str], stored: Sequence[Mapping[str, Any]] | None) -> list[str]:
    """Return the plans in the order of their entries: the ``stored`` ones first."""
    return list(dict.fromkeys([*(entry["tier"] for entry in stored or ()), *tiers]))


def _tier_of(place: list[str], filled: list[str]) -> str | None:
    """Return the plan of a path like ``pricing.1.processorPriceId``, or of one with the plan
    instead of the number."""
    if len(place) < 2 or not place[1].isdigit():
        return place[1] if len(place) > 1 else None
    return filled[int(place[1])] if int(place[1]) < len(filled) else None


def _shown(field: Field) -> str:
    return (field.data or "").strip() or "–"


def _typed(row: PlanRow) -> tuple[str, str]:
    return (row.price_id.data or "").strip(), (row.product_id.data or "").strip()
