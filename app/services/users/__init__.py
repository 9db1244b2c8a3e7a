"""Users: loading, creating and changing them."""

from app.services.users.changing import set_external_id, set_password, update
from app.services.users.creating import (
    create,
    create_admin,
    create_partial,
    invite,
    refuse_known_address,
)
from app.services.users.invitees import (
    MAX_USERS,
    Invitee,
    as_text,
    check_count,
    from_text,
    read_invitees,
)
from app.services.users.inviting import (
    FullOrganization,
    InviteDefaults,
    InviteOutcome,
    LineResult,
    by_name,
    check_many,
    invite_many,
    invite_within_limits,
)
from app.services.users.loading import (
    UserFilter,
    count,
    get,
    get_many,
    listing,
    names_by_email,
    search,
    to_resource,
    types_for,
)
from app.services.users.status import change_role, deactivate, reactivate, suspend
