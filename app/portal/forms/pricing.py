"""Prices of the plans: each plan once, by the processor's ids."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wtforms import Form, FormField, StringField

from app.enums import Tier
from app.errors import Problem, ValidationFailed
from app.services.pricing import TIER_NAMES

OFFERED = (Tier.FREE, Tier.BASIC, Tier.PLUS)
"""The plans that the contract lets have a price, in the order of their size."""


class PlanRow(Form):
    price_id = StringField("Price id", render_kw={"maxlength": 200, "spellcheck": "false"})
    product_id = StringField("Product id", render_kw={"maxlength": 200, "spellcheck": "false"})


class PricingForm(Form):
    """A plan whose two ids are blank is not offered."""

    free = FormField(PlanRow, label=TIER_NAMES[Tier.FREE])
    basic = FormField(PlanRow, label=TIER_NAMES[Tier.BASIC])
    plus = FormField(PlanRow, label=TIER_NAMES[Tier.PLUS])

    @property
    def rows(self) -> Iterator[tuple[Tier, PlanRow]]:
        yield from zip(
            OFFERED, (field.form for field in (self.free, self.basic, self.plus)), strict=True
        )

    @classmethod
    def showing(cls, pricing: Sequence[Mapping[str, Any]] | None) -> "PricingForm":
        """The form filled with the contract's ``pricing``; of a plan that stands there twice, the
        first entry."""
        form = cls()
        for tier, row in form.rows:
            entry = next((e for e in pricing or () if e["tier"] == tier.value), None)
            row.price_id.data = entry["processorPriceId"] if entry else ""
            row.product_id.data = entry["processorProductId"] if entry else ""
        return form

    def to_pricing(self, stored: Sequence[Mapping[str, Any]] | None) -> list[dict[str, Any]] | None:
        """The contract's ``pricing``: kept entries in their order, new ones behind them.

        Raises `ValidationFailed` where one of a plan's two ids is missing.
        """
        typed = {tier.value: _typed(row) for tier, row in self.rows}
        self._refuse_half(typed)
        order = list(dict.fromkeys(entry["tier"] for entry in stored or ()))
        ids = {entry["tier"]: entry["id"] for entry in reversed(stored or ())}
        entries = [
            {
                **({"id": ids[tier]} if tier in ids else {}),
                "tier": tier,
                "processorPriceId": typed[tier][0],
                "processorProductId": typed[tier][1],
            }
            for tier in [*order, *(t for t in typed if t not in order)]
            if all(typed[tier])
        ]
        return entries or (None if stored is None else [])

    def show_problems(self, problems: Sequence[Problem]) -> list[tuple[str, str]]:
        """Puts each problem at its field; returns all as (id, words)."""
        rest = []
        filled = [row for _tier, row in self.rows if all(_typed(row))]
        for problem in problems:
            place = problem.field.split(".")
            row = self._row_of(place, filled)
            if row is None:
                rest.append(("", problem.message))
                continue
            field = row.product_id if place[-1] == "processorProductId" else row.price_id
            field.errors = (*field.errors, problem.message)
            rest.append((field.id, f"{field.label.text}: {problem.message}"))
        return rest

    def _row_of(self, place: list[str], filled: list[PlanRow]) -> PlanRow | None:
        by_tier = {tier.value: row for tier, row in self.rows}
        if len(place) < 2:
            return None
        if place[1] in by_tier:
            return by_tier[place[1]]
        index = int(place[1]) if place[1].isdigit() else len(filled)
        return filled[index] if index < len(filled) else None

    def _refuse_half(self, typed: Mapping[str, tuple[str, str]]) -> None:
        problems = []
        for tier, (price_id, product_id) in typed.items():
            if price_id and not product_id:
                words = "The product id is missing: the price belongs to a product."
                problems.append(Problem(f"pricing.{tier}.processorProductId", "required", words))
            elif product_id and not price_id:
                words = "The price id is missing: a product can have several prices."
                problems.append(Problem(f"pricing.{tier}.processorPriceId", "required", words))
        if problems:
            raise ValidationFailed.of(*problems)


def _typed(row: PlanRow) -> tuple[str, str]:
    return (row.price_id.data or "").strip(), (row.product_id.data or "").strip()
