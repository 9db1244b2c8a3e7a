"""The words of plans: prices, what they include, and the fields that changed."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from app.enums import BillingInterval, UsageUnit
from app.gateways.processors.currencies import decimals
from app.languages.dates import NO_BREAK
from app.languages.numbers import written
from app.portal.web.blueprint import portal
from app.portal.web.formats import number, plural
from app.services.pricing import Plan, PlanChange, PlanTerms

SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}
INTERVAL_WORDS = {BillingInterval.MONTH: "a month", BillingInterval.YEAR: "a year"}
CHOICE_WORDS: dict[Any, str] = {
    **INTERVAL_WORDS,
    UsageUnit.MINUTE: "Minutes",
    UsageUnit.CALL: "Calls",
    None: "Not charged",
    True: "Yes",
    False: "No",
}
FIELD_LABELS = {
    "name": "Name",
    "amount": "Price",
    "currency": "Currency",
    "interval": "Paid",
    "unit": "Usage is counted in",
    "included": "Included each month",
    "overage_micros": "Price beyond",
    "trial_days": "Trial days",
    "features": "Features",
    "is_visible": "Visible to customers",
    "price_id": "Price id",
    "product_id": "Product id",
    "order": "Place",
}


@portal.app_template_filter("money")
def money(cost: Decimal | float, currency: str, digits: int | None = None) -> str:
    """$29.00, €948.50, ¥3,000; 29.00 CHF for currencies without a common sign."""
    amount = written(cost, decimals(currency) if digits is None else digits)
    symbol = SYMBOLS.get(currency.upper())
    return f"{symbol}{amount}" if symbol else f"{amount}{NO_BREAK}{currency.upper()}"


@portal.app_template_filter("plan_price")
def plan_price(terms: PlanTerms) -> str:
    """$29 or $29.50"""
    return money(terms.cost, terms.currency, 0 if terms.cost == int(terms.cost) else None)


@portal.app_template_filter("plan_interval")
def plan_interval(terms: PlanTerms) -> str:
    return INTERVAL_WORDS[terms.interval]


@portal.app_template_filter("plan_usage")
def plan_usage(terms: PlanTerms) -> str:
    """300 minutes a month included, then $0.12 a minute."""
    if terms.unit is None:
        return ""
    beyond = plan_overage(terms)
    if not terms.included:
        return beyond
    included = f"{plural(terms.included, terms.unit)} a month included"
    return f"{included}, then {beyond}" if beyond else included


@portal.app_template_filter("plan_overage")
def plan_overage(terms: PlanTerms) -> str:
    """$0.12 a minute; nothing where further usage costs nothing."""
    return f"{_overage(terms)} a {terms.unit}" if terms.unit and terms.overage_micros else ""


def change_rows(
    changes: Sequence[PlanChange], old: Sequence[Plan], new: Sequence[Plan]
) -> list[tuple[str, str, str]]:
    """Return each change as its label with the plan's name, and both values in words."""
    before, after = ({plan.tier: plan for plan in plans} for plans in (old, new))
    return [
        (
            f"{after[change.tier].name}: {FIELD_LABELS[change.name].lower()}",
            _shown(change.name, change.old, before[change.tier].terms),
            _shown(change.name, change.new, after[change.tier].terms),
        )
        for change in changes
    ]


def _shown(name: str, value: Any, terms: PlanTerms) -> str:
    if name == "amount":
        words = money(terms.cost, terms.currency)
    elif name == "overage_micros":
        words = _overage(terms) if value else ""
    elif name in ("interval", "unit", "is_visible"):
        words = CHOICE_WORDS[value]
    elif name in ("included", "trial_days", "order"):
        words = number(value)
    else:
        words = value if isinstance(value, str) else "\n".join(value)
    return words or "–"


def _overage(terms: PlanTerms) -> str:
    cost = Decimal(terms.overage_micros).scaleb(-6).normalize()
    digits = max(decimals(terms.currency), -int(cost.as_tuple().exponent))
    return money(cost, terms.currency, digits)
