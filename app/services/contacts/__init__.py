"""Contacts of campaigns: bulk changes (`apply`), their dry run, and reading."""

from app.services.contacts.apply import apply, apply_request
from app.services.contacts.dry_run import DryRun
from app.services.contacts.queries import (
    NO_STATUS,
    CallObstacle,
    ContactSearch,
    count,
    find_by_address,
    find_by_name,
    get,
    get_many,
    metadata_names,
    page,
    search,
    statuses_of,
)
from app.services.contacts.results import BulkResult
