"""Spending of calls: rates, limits a day and a month, and what is used of them.

`rates` says what a call costs, `scopes` where it is counted, `reserving` holds the limits, `limits`
is what users read and change, and `near_limits` finds those that are nearly used.
"""

from app.services.spending.limits import (
    LimitSubject,
    SpendingLimits,
    SpendingState,
    change,
    copy_to_key,
    exempt_from_watch,
    limit_new_partner,
    of_partners,
    spending_of,
)
from app.services.spending.near_limits import NEAR, any_near_limit, near_limits
from app.services.spending.rates import MICROS, amount_words, micros_of, price_range
from app.services.spending.reserving import (
    REACHED,
    CallAmount,
    add_spent,
    check,
    reserve,
    settle,
)
from app.services.spending.scopes import Spender
from app.services.spending.use import LimitUse, by_organization
