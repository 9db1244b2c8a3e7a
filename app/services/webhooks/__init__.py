"""Webhooks: signed events about organizations and portals, retried until they are accepted.

`publishing` writes events in the transaction of their change, `delivering` sends them step by step,
`managing` and `deliveries` are the actions of users and commands.
"""

from app.services.webhooks.managing import (
    MAX_WEBHOOKS,
    SORTS,
    WebhookFilter,
    WebhookWithSecret,
    add,
    check,
    count,
    get,
    get_many,
    listing,
    organizations_with,
    pause,
    remove,
    resume,
    rotate,
    search,
    seen_version,
    update,
)
