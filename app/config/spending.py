"""Spending of calls."""

from decimal import Decimal

from pydantic import Field

from app.config.base import CommonSettings


class SpendingSettings(CommonSettings):
    """Amounts are in the currency of the call rates."""

    spending_new_partner: int = Field(500, ge=0, le=1_000_000_000)
    """Spending limit a day of a new partner, in whole units of the currency; 0 means no limit. The
    operator changes it for each partner."""

    spending_watch: bool = True
    """Whether unusual calls pause the calling of an organization: compared with its own four weeks,
    many calls to a country that it never called, at an hour at which it never calls, or far more
    than in its busiest hour."""
    spending_first_hour: int = Field(200, ge=1)
    """Most calls in an hour of an organization that made none in the last four weeks; more are
    unusual."""

    spending_model_per_minute: Decimal = Field(Decimal(0), ge=0, le=1000, decimal_places=6)
    """What voice and text generation cost for each full minute of an answered call. Costs and
    margins of all months are shown with the present value."""
    spending_model_per_call: Decimal = Field(Decimal(0), ge=0, le=1000, decimal_places=6)
    """The same for each answered call."""

    @property
    def new_partner_micros_a_day(self) -> int | None:
        """Return `spending_new_partner` in millionths; None without a limit."""
        return self.spending_new_partner * 1_000_000 or None
