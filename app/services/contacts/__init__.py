"""Contacts of campaigns: bulk changes (`apply`), their dry run, and reading."""

from app.services.contacts.apply import apply, send
from app.services.contacts.dry_run import DryRun
from app.services.contacts.queries import (
    NO_STATUS,
    CallObstacle,
    ContactSearch,
    count,
    get,
    get_many,
    metadata_names,
    named,
    page,
    reached_at,
    search,
    statuses_of,
)
from app.services.contacts.results import BulkResult
