"""A plan that customers can be on: its price, what the price includes, and how it is shown."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import Any, Self

from app.enums import TIER_NAMES, BillingInterval, Tier, UsageUnit
from app.errors import Problem, raise_problems
from app.gateways.processors.currencies import OFFERED, decimals
from app.languages import gettext, language, lazy_pgettext, ngettext
from app.languages.numbers import localize_number

MAX_AMOUNT = 99_999_999
MAX_INCLUDED = 10_000_000
MAX_OVERAGE_MICROS = 1_000_000_000
MAX_TRIAL_DAYS = 730
MAX_FEATURES = 12
MAX_NAME_LENGTH = 60
MAX_FEATURE_LENGTH = 120
MAX_ID_LENGTH = 200
PLAN_LABELS: Mapping[Tier, str] = {
    Tier.FREE: lazy_pgettext("plan", "Free"),
    Tier.BASIC: lazy_pgettext("plan", "Basic"),
    Tier.PLUS: lazy_pgettext("plan", "Plus"),
    Tier.BASIC_TRIAL: lazy_pgettext("plan", "Basic trial"),
}
"""`TIER_NAMES` in the current language, for plans that their partner hasn't named."""
LOCAL_ID = "local_"
"""Prefix of the ids of prices that no payment processor has."""


@dataclass(frozen=True, slots=True)
class PlanTerms:
    """The price of a plan.

    ``amount`` is in the smallest unit of the currency, for each ``interval``. A plan with a
    ``unit`` includes that many minutes or calls each calendar month; each further one costs
    ``overage_micros`` millionths of the currency. Without a unit usage costs nothing more.
    """

    amount: int
    currency: str
    interval: BillingInterval = BillingInterval.MONTH
    unit: UsageUnit | None = None
    included: int = 0
    overage_micros: int = 0
    trial_days: int = 0

    @property
    def cost(self) -> Decimal:
        """The amount in currency units."""
        return Decimal(self.amount).scaleb(-decimals(self.currency))


@dataclass(frozen=True, slots=True)
class PlanText:
    """The texts of a plan in one language; a blank text has no translation."""

    language: str
    name: str = ""
    features: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EditedPlan:
    """A plan as its partner edits it. ``price_id`` and ``product_id`` are the payment processor's,
    or blank. ``texts`` are its name and features in some languages."""

    tier: Tier
    name: str
    terms: PlanTerms
    features: tuple[str, ...] = ()
    is_visible: bool = True
    price_id: str = ""
    product_id: str = ""
    texts: tuple[PlanText, ...] = ()

    @classmethod
    def stored(cls, values: Mapping[str, Any], texts: Mapping[str, Any]) -> Self:
        """Return the plan from its stored JSON, and that of its texts by language."""
        terms = dict(values["terms"])
        terms["interval"] = BillingInterval(terms["interval"])
        terms["unit"] = UsageUnit(terms["unit"]) if terms["unit"] else None
        converted = {
            "tier": Tier(values["tier"]),
            "terms": PlanTerms(**terms),
            "features": tuple(values["features"]),
            "texts": tuple(
                PlanText(code, text["name"], tuple(text["features"]))
                for code, text in texts.items()
            ),
        }
        return cls(**{**values, **converted})

    def to_json(self) -> dict[str, Any]:
        """Return the plan as it is stored, without its `texts_to_json`."""
        values = asdict(self) | {"features": list(self.features)}
        del values["texts"]
        return values

    def texts_to_json(self) -> dict[str, Any]:
        return {
            text.language: {"name": text.name, "features": list(text.features)}
            for text in self.texts
        }

    def localized(self) -> "EditedPlan":
        """Return the plan in the current language, as customers see it."""
        text = next((text for text in self.texts if text.language == language()), None)
        if text is None:
            is_built_in = self.name == TIER_NAMES[self.tier]
            return replace(self, name=str(PLAN_LABELS[self.tier])) if is_built_in else self
        return replace(self, name=text.name or self.name, features=text.features or self.features)


def outside_id(identifier: str) -> str:
    """Return the payment processor's id; "" for one that publishing gave."""
    return "" if identifier.startswith(LOCAL_ID) else identifier


def check(plan: EditedPlan) -> None:
    """Raise `ValidationFailed` with every problem of the plan's fields."""
    raise_problems(_problems(plan))


def _problems(plan: EditedPlan) -> Iterator[Problem]:
    terms = plan.terms
    if not plan.name:
        yield Problem("name", "required", gettext("Enter the name that customers see."))
    if terms.currency not in OFFERED:
        yield Problem("currency", "invalid_value", gettext("Choose a currency of the list."))
    for name, value, maximum in (
        ("amount", terms.amount, MAX_AMOUNT),
        ("included", terms.included, MAX_INCLUDED),
        ("overage", terms.overage_micros, MAX_OVERAGE_MICROS),
        ("trialDays", terms.trial_days, MAX_TRIAL_DAYS),
    ):
        if not 0 <= value <= maximum:
            message = gettext(
                "Enter a number from 0 to %(most)s.",
                most=_format_maximum(name, maximum, terms.currency),
            )
            yield Problem(name, "out_of_range", message)
    yield from _text_problems("", plan.name, plan.features)
    for text in plan.texts:
        yield from _text_problems(f"texts.{text.language}.", text.name, text.features)
    for name, identifier in (("priceId", plan.price_id), ("productId", plan.product_id)):
        if len(identifier) > MAX_ID_LENGTH:
            message = _too_long_message(MAX_ID_LENGTH)
            yield Problem(name, "value_too_long", message)


def _text_problems(prefix: str, name: str, features: Sequence[str]) -> Iterator[Problem]:
    if len(name) > MAX_NAME_LENGTH:
        yield Problem(f"{prefix}name", "value_too_long", _too_long_message(MAX_NAME_LENGTH))
    if len(features) > MAX_FEATURES:
        message = ngettext(
            "Enter at most %(num)s line.", "Enter at most %(num)s lines.", MAX_FEATURES
        )
        yield Problem(f"{prefix}features", "too_many", message)
    elif any(len(feature) > MAX_FEATURE_LENGTH for feature in features):
        message = ngettext(
            "Enter at most %(num)s character in each line.",
            "Enter at most %(num)s characters in each line.",
            MAX_FEATURE_LENGTH,
        )
        yield Problem(f"{prefix}features", "value_too_long", message)


def _format_maximum(name: str, maximum: int, currency: str) -> str:
    if name == "amount":
        digits = decimals(currency)
        return localize_number(Decimal(maximum).scaleb(-digits), digits)
    return localize_number(maximum // 1_000_000 if name == "overage" else maximum)


def _too_long_message(count: int) -> str:
    return ngettext("Enter at most %(num)s character.", "Enter at most %(num)s characters.", count)
