"""The numbers that calls come from: each belongs to one organization of the whole installation.

`owning` decides whether an assistant may call from a number, `assignment` assigns, moves and
releases numbers, `listing` reads them from carrier accounts, `queries` lists them.
"""

from app.services.phone_numbers.assignment import assign, confirm, move, release
from app.services.phone_numbers.listing import (
    reading_data,
    refresh_due,
    request_reading,
    store_reading,
    store_unrequested,
)
from app.services.phone_numbers.owning import (
    NOT_ASSIGNED,
    NumberRoute,
    not_callable_over,
    refusal,
    refusals,
    refusals_of_numbers,
    release_unused,
    require,
    route_of,
)
from app.services.phone_numbers.queries import (
    ListedNumber,
    assistants_with,
    can_be_verified,
    conflicts,
    get,
    is_confirmed,
    listing,
    unused_by_assistants,
)
