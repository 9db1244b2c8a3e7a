"""What every payment processor can be asked."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from app.enums import Tier


@dataclass(frozen=True, slots=True)
class PriceReference:
    """A price that a partner names: the plan, and the processor's ids for it."""

    tier: Tier
    price_id: str
    product_id: str


@dataclass(frozen=True, slots=True)
class Price:
    """A price in currency units (not cents); ``currency`` is an ISO 4217 code in capitals."""

    name: str
    cost: Decimal
    currency: str
    product_id: str | None = None
    """Whose price it is, where the processor says so."""


class ProcessorUnavailable(Exception):
    """The processor could not be asked; what is known of its prices stays as it is."""

    def __init__(self, processor: str, reason: str):
        super().__init__(f"{processor} gave no answer: {reason}")


class Processor(Protocol):
    """A source of prices. Asked by the worker where it is outside, never inside a web request."""

    name: str
    is_outside: bool

    def prices(self, references: Iterable[PriceReference]) -> Mapping[str, Price]:
        """The prices it knows, by price id; ids that it does not know are left out.

        Raises `ProcessorUnavailable`.
        """
        ...
