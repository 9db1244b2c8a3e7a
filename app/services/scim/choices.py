"""A partner's settings for users of its directory: the default role."""

from sqlalchemy.orm import Session

from app.enums import Role
from app.errors import ValidationFailed, check_version
from app.languages import gettext
from app.models import ScimSettings
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, partners
from app.services.users.loading import check_grant

DEFAULT_ROLES = (Role.PARTNER_EDITOR, Role.ADMIN)
"""Roles that users in no group can get. Partner admins need a group; members an organization."""


def get(session: Session, caller: Caller) -> ScimSettings:
    """Return the choices of the caller's partner, the defaults with version 0 if nothing is stored.
    Raises `Forbidden`."""
    caller.require(Permission.CREDENTIALS_MANAGE)
    partner_id = partners.own_partner_id(caller)
    # nosemgrep: row-by-id-for-a-caller - the caller's own partner
    stored = session.get(ScimSettings, partner_id, populate_existing=True)
    return stored or ScimSettings(partner_id=partner_id, default_role=None, version=0)


def save(
    session: Session, caller: Caller, default_role: str | None, *, expected_version: int | None
) -> None:
    """Store the default role; None: no access without a group. It applies when a user's access is
    next decided; no user's access changes now.

    Raises `Forbidden`, `ValidationFailed` (``unknown_role``) and `Conflict``
    (``changed_meanwhile``).
    """
    caller.require(Permission.CREDENTIALS_MANAGE)
    partner = partners.get_own(session, caller, for_change=True)
    role = next((role for role in DEFAULT_ROLES if role == default_role), None)
    if default_role and role is None:
        message = gettext("Choose one of the roles.")
        raise ValidationFailed.on("defaultRole", "unknown_role", message)
    if role is not None:
        check_grant(caller, role)
    stored = get(session, caller)
    check_version(expected_version, stored.version, "directory")
    if stored.default_role is role:
        return
    before, after = {"defaultRole": stored.default_role}, {"defaultRole": role}
    stored.default_role = role
    stored.version += 1
    session.add(stored)
    session.flush()
    audit.record_change(session, caller, "scim.changed", partner, before=before, after=after)
