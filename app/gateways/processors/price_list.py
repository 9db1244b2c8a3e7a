"""The built-in price list, used for every plan if no payment processor is configured."""

from collections.abc import Iterable, Mapping
from decimal import Decimal

from app.enums import Tier
from app.gateways.processors.base import ListedPrice, PriceReference

CURRENCY = "USD"
PRICES: Mapping[Tier, ListedPrice] = {
    Tier.FREE: ListedPrice("Free", Decimal("0.00"), CURRENCY),
    Tier.BASIC: ListedPrice("Basic", Decimal("29.00"), CURRENCY),
    Tier.PLUS: ListedPrice("Plus", Decimal("99.00"), CURRENCY),
    Tier.BASIC_TRIAL: ListedPrice("Basic trial", Decimal("0.00"), CURRENCY),
}


class PriceList:
    """A local replacement of a payment processor: it accepts any price id and uses the plan's
    price."""

    name = "built-in price list"
    is_outside = False

    def prices(self, references: Iterable[PriceReference]) -> Mapping[str, ListedPrice]:
        return {reference.price_id: PRICES[reference.tier] for reference in references}
