"""Allowed destinations of calls: set by the operator, the partner and the organization."""

from app.services.destinations.hand_over import (
    hand_over_refusal,
    host_of,
    is_private_host,
    shape_refusal,
)
from app.services.destinations.layers import (
    CallDestinations,
    destinations_of,
    openable_by_partner,
    opened_by_partner,
    read_destinations,
)
from app.services.destinations.settings import (
    INSTALLATION_ID,
    DestinationChoice,
    DestinationLimits,
    change_choice,
    change_limits,
    choice_of,
    limits_of,
    opened_by_partners,
)
