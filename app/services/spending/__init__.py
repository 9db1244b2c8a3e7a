"""Spending of calls: rates, limits a day and a month, and what is used of them.

`rates` says what a call costs, `scopes` where it is counted, `reserving` holds the limits, and
`limits` is what users read and change.
"""

from app.services.spending.limits import (
    NEAR,
    Limits,
    NearLimit,
    Spending,
    Subject,
    Use,
    change,
    copy_to_key,
    leave_alone,
    limit_new_partner,
    near_limits,
    of,
    of_partners,
)
from app.services.spending.rates import MICROS, amount_words, micros_of
from app.services.spending.reserving import (
    LONGEST_MINUTES,
    REACHED,
    Amount,
    Stop,
    check,
    reserve,
    settle,
)
from app.services.spending.scopes import Spender
