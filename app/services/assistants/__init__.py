"""Assistants (`agents` on the wire): loading, settings, and readiness for calls."""

from app.services.assistants.creating import (
    add_assistant,
    configure_assistant,
    define_external_id_key,
)
from app.services.assistants.queries import (
    AssistantFilter,
    blocker_of,
    count,
    count_if_few,
    counting_not_ready,
    external_id_keys,
    find_by_number,
    get,
    get_many,
    get_with_organization,
    list_all,
    not_ready,
    of_organization,
    readiness,
    readiness_of,
    search,
    visible,
    with_organizations,
)
