"""Stripe as the payment processor, through its official SDK (the extra ``stripe``)."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from app.gateways.processors.base import Price, PriceReference, ProcessorUnavailable

SECONDS = 10
RETRIES = 1
_WHOLE_UNITS = frozenset(
    [
        "BIF",
        "CLP",
        "DJF",
        "GNF",
        "JPY",
        "KMF",
        "KRW",
        "MGA",
        "PYG",
        "RWF",
        "VND",
        "VUV",
        "XAF",
        "XOF",
        "XPF",
    ]
)
_THOUSANDTHS = frozenset(["BHD", "JOD", "KWD", "OMR", "TND"])
"""Stripe uses the smallest unit: hundredths except for these (ISK and UGX are sent in hundredths
although they have no decimals)."""


class Stripe:
    """Prices of a Stripe account. Only `prices` connects."""

    name = "Stripe"
    is_outside = True

    def __init__(self, key: str, api_url: str = ""):
        self._key = key
        self._api_url = api_url

    def prices(self, references: Iterable[PriceReference]) -> Mapping[str, Price]:
        """Return the known prices by price id. One request per id, at most two tries of ten seconds
        each.

        Raises `ProcessorUnavailable` if an answer is neither a price nor "no such price".
        """
        import stripe  # noqa: PLC0415 - installed, and loaded, only where Stripe is used

        client = self._client(stripe)
        products: dict[str, str] = {}
        found: dict[str, Price] = {}
        for price_id in dict.fromkeys(reference.price_id for reference in references):
            try:
                price = client.v1.prices.retrieve(price_id)
                product_id = str(price.product)
                if product_id not in products:
                    products[product_id] = client.v1.products.retrieve(product_id).name
            except stripe.InvalidRequestError as error:
                if error.http_status == 404 or error.code == "resource_missing":
                    continue
                raise ProcessorUnavailable(self.name, type(error).__name__) from error
            except stripe.StripeError as error:
                raise ProcessorUnavailable(self.name, type(error).__name__) from error
            currency = price.currency.upper()
            found[price_id] = Price(
                name=price.nickname or products[product_id],
                cost=_units(price, currency),
                currency=currency,
                product_id=product_id,
            )
        return found

    def _client(self, stripe: Any) -> Any:
        addresses: dict[str, str] = {}
        if self._api_url:
            parts = urlsplit(self._api_url)
            addresses = {"api": f"{parts.scheme}://{parts.netloc}"}
        return stripe.StripeClient(
            self._key,
            base_addresses=addresses,
            http_client=stripe.RequestsClient(timeout=SECONDS),
            max_network_retries=RETRIES,
        )


def _units(price: Any, currency: str) -> Decimal:
    """Return the amount in currency units. A tiered price has no single amount: zero."""
    amount = getattr(price, "unit_amount_decimal", None) or price.unit_amount or 0
    shift = 0 if currency in _WHOLE_UNITS else 3 if currency in _THOUSANDTHS else 2
    return Decimal(str(amount)).scaleb(-shift)
