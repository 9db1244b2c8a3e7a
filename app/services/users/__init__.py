"""Users: loading, creating and changing them."""

from app.services.users.bulk_invite import (
    BATCH_SIZE,
    CheckedInvitee,
    CheckedInvitees,
    FullOrganization,
    InviteDefaults,
    InviteOutcome,
    check_many,
    invite_many,
    organization_by_name,
)
from app.services.users.creating import (
    create,
    create_admin,
    create_partial,
    invite,
    refuse_known_address,
)
from app.services.users.invitees import (
    COLUMNS,
    MAX_USERS,
    Invitee,
    from_lines,
    read_invitees,
    to_lines,
)
from app.services.users.loading import (
    UserFilter,
    count,
    get,
    get_many,
    get_with_organization,
    listing,
    names_by_email,
    search,
    to_resource,
    types_for,
)
from app.services.users.status import change_role, deactivate, reactivate, suspend
from app.services.users.updating import check_name, set_external_id, set_password, update
