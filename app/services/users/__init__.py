"""People: who may see whom, who may create whom, and every change to them."""

from app.services.users.changing import set_external_id, set_password, update
from app.services.users.creating import create, create_admin, create_partial, invite
from app.services.users.loading import check_type, get, listing, search
from app.services.users.resource import to_resource
from app.services.users.standing import change_role, deactivate, reactivate, suspend

__all__ = [
    "change_role",
    "check_type",
    "create",
    "create_admin",
    "create_partial",
    "deactivate",
    "get",
    "invite",
    "listing",
    "reactivate",
    "search",
    "set_external_id",
    "set_password",
    "suspend",
    "to_resource",
    "update",
]
