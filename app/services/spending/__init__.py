"""Spending of calls: rates, daily and monthly limits, and their use.

`rates` has the prices of calls, `scopes` where they are counted, `reserving` enforces the limits,
`limits` lets users read and change them, and `near_limits` finds those that are nearly used.
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
from app.services.spending.rates import MICROS, format_amount, micros_of, price_range
from app.services.spending.reserving import (
    REACHED,
    CallAmount,
    add_spent,
    check,
    reserve,
    settle,
)
from app.services.spending.scopes import Spender
from app.services.spending.usage import LimitUsage, by_organization
