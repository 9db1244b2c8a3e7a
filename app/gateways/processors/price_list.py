"""The built-in price list, used for every plan if no payment processor is configured."""

from collections.abc import Iterable, Mapping
from decimal import Decimal

from app.enums import Tier
from app.gateways.processors.base import Price, PriceReference

CURRENCY = "USD"
PRICES: Mapping[Tier, Price] = {
    Tier.FREE: Price("Free", Decimal("0.00"), CURRENCY),
    Tier.BASIC: Price("Basic", Decimal("29.00"), CURRENCY),
    Tier.PLUS: Price("Plus", Decimal("99.00"), CURRENCY),
    Tier.BASIC_TRIAL: Price("Basic trial", Decimal("0.00"), CURRENCY),
}


class PriceList:
    """A local replacement of a payment processor: it accepts any price id and uses the plan's
    price."""

    name = "built-in price list"
    is_outside = False

    def prices(self, references: Iterable[PriceReference]) -> Mapping[str, Price]:
        return {reference.price_id: PRICES[reference.tier] for reference in references}
