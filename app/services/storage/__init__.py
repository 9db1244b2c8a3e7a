"""The storage of partners and organizations, and its limits: files and rows of uploads, undo logs,
brand images, recordings of calls."""

from app.services.storage.limits import (
    LIMIT_REACHED,
    STORAGE_FULL,
    change_organization_limit,
    change_partner_limit,
    is_over_limit,
    require_room,
    reserve_room,
)
from app.services.storage.usage import (
    StorageUsage,
    largest_uploads,
    of_organization,
    of_organizations,
    of_partner,
    of_partners,
    used_by_all,
)
