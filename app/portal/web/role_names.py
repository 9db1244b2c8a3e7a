"""The names of the roles on screens."""

from app.enums import Role
from app.languages import lazy_gettext

ROLE_NAMES: dict[Role, str] = {
    Role.OPERATOR: lazy_gettext("Platform operator"),
    Role.PARTNER_ADMIN: lazy_gettext("Partner admin"),
    Role.PARTNER_EDITOR: lazy_gettext("Partner editor"),
    Role.ADMIN: lazy_gettext("Customer admin"),
    Role.OWNER: lazy_gettext("Owner"),
    Role.STANDARD: lazy_gettext("Member"),
}
