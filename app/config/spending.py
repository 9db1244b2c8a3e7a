"""Spending of calls."""

from pydantic import Field

from app.config.base import Foundation


class SpendingSettings(Foundation):
    """Amounts are in the currency of the call rates."""

    spending_new_partner: int = Field(500, ge=0, le=1_000_000_000)
    """Spending limit a day of a new partner, in whole units of the currency; 0 means no limit. The
    operator changes it for each partner."""

    @property
    def new_partner_micros_a_day(self) -> int | None:
        """`spending_new_partner` in millionths; None without a limit."""
        return self.spending_new_partner * 1_000_000 or None
