"""Where calls may go: the operator's limits, what a partner opens, what an organization chooses."""

from app.services.destinations.changing import (
    INSTALLATION_ID,
    DestinationChoice,
    DestinationLimits,
    change_choice,
    change_limits,
    choice_of,
    limits_of,
    opened_by_partners,
)
from app.services.destinations.hand_over import hand_over_refusal, host_of, is_private_host
from app.services.destinations.layers import (
    CallDestinations,
    destinations_of,
    openable_by_partner,
    opened_by_partner,
    read_destinations,
)
