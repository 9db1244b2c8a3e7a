"""The protocol of every payment processor."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Protocol

from app.enums import SubscriptionStatus, Tier


@dataclass(frozen=True, slots=True)
class PriceReference:
    """A price that a partner refers to: the plan, and the processor's ids for it."""

    tier: Tier
    price_id: str
    product_id: str


@dataclass(frozen=True, slots=True)
class ListedPrice:
    """A price in currency units (not cents); ``currency`` is an ISO 4217 code in capitals."""

    name: str
    cost: Decimal
    currency: str
    product_id: str | None = None
    """The product of the price, if the processor reports it."""
    interval: str | None = None
    """``month`` or ``year`` for a price that is paid regularly."""


@dataclass(frozen=True, slots=True)
class CustomerSubscription:
    """A customer's subscription; ``ends_at`` is when it ends if it was cancelled."""

    status: SubscriptionStatus
    customer: str
    price_id: str
    ends_at: datetime | None


class ProcessorUnavailable(Exception):
    """The processor could not be reached; the known prices stay as they are."""

    def __init__(self, processor: str, reason: str):
        super().__init__(f"{processor} gave no answer: {reason}")


class ProcessorRefused(Exception):
    """The processor refused a request; the message is for the user who has to change something."""


class PaymentProcessor(Protocol):
    """A source of prices. Only the worker queries an external one; web requests never do."""

    name: str
    is_outside: bool

    def prices(self, references: Iterable[PriceReference]) -> Mapping[str, ListedPrice]:
        """Return the known prices by price id; unknown ids are left out.

        Raises `ProcessorUnavailable`.
        """
        ...
