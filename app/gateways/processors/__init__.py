"""Payment processors: the prices of plans and their source."""

from app.config import Settings
from app.gateways.processors.base import PaymentProcessor
from app.gateways.processors.price_list import PriceList
from app.gateways.processors.stripe import StripeProcessor


def open_processor(settings: Settings) -> PaymentProcessor:
    if settings.processor == "stripe":
        return StripeProcessor(settings.stripe_key, settings.stripe_api_url)
    return PriceList()


def open_account(settings: Settings, key: str, account: str) -> StripeProcessor:
    """Return a partner's own account: that of the ``key``, or without one the ``account`` that is
    connected to the installation's."""
    return StripeProcessor(key or settings.stripe_key, settings.stripe_api_url, account)
