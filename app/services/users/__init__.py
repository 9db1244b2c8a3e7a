"""Users: which of them a caller may see, create and change, and every change to them."""

from app.services.users.changing import set_external_id, set_password, update
from app.services.users.creating import create, create_admin, create_partial, invite
from app.services.users.inviting import (
    LineResult,
    Outcome,
    by_name,
    invite_many,
    read_invitees,
)
from app.services.users.loading import (
    Filter,
    check_type,
    count,
    get,
    listing,
    search,
    several,
    types_for,
)
from app.services.users.resource import to_resource
from app.services.users.status import change_role, deactivate, reactivate, suspend

__all__ = [
    "Filter",
    "LineResult",
    "Outcome",
    "by_name",
    "change_role",
    "check_type",
    "count",
    "create",
    "create_admin",
    "create_partial",
    "deactivate",
    "get",
    "invite",
    "invite_many",
    "listing",
    "reactivate",
    "read_invitees",
    "search",
    "set_external_id",
    "set_password",
    "several",
    "suspend",
    "to_resource",
    "types_for",
    "update",
]
