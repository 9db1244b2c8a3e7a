"""Why a user or an API key may do something or not: the rule that decides, and who can change
it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Role, UserStatus
from app.models import ApiKey, AuditEntry, OAuthClient, Organization, Partner, User, utcnow
from app.policy import API_KEY_SCOPES, ROLE_PERMISSIONS, Permission
from app.services.credentials.tokens import permissions_of
from app.services.users.loading import MEMBERS, PARTNER_LEVEL, grantable_roles

MAX_TO_ASK = 3


class AccessRule(StrEnum):
    """The rule that decides, in the order in which they are checked."""

    PARTNER_SUSPENDED = "partner-suspended"
    ORGANIZATION_SUSPENDED = "organization-suspended"
    NOT_ACTIVE = "not-active"
    ROLE_ALLOWS = "role-allows"
    ROLE_TOO_LOW = "role-too-low"
    OTHER_KIND = "other-kind"
    """Only users of another kind may do it: a member never becomes a partner admin."""
    NO_ROLE = "no-role"
    """Only scripts may do it."""
    KEY_ENDED = "key-ended"
    SCOPE_ALLOWS = "scope-allows"
    SCOPE_MISSING = "scope-missing"
    NOT_FOR_KEYS = "not-for-keys"
    """No API key can have this scope."""
    CLIENT_ENDED = "client-ended"
    CLIENT_SUSPENDED = "client-suspended"
    CLIENT_ROLE_ALLOWS = "client-role-allows"
    CLIENT_ROLE_TOO_LOW = "client-role-too-low"


@dataclass(frozen=True, slots=True)
class AccessExplanation:
    """``holders`` are the roles that allow the action, ``changers`` those that can change the
    answer."""

    rule: AccessRule
    holders: tuple[Role, ...]
    changers: tuple[Role, ...]

    @property
    def is_allowed(self) -> bool:
        return self.rule in (
            AccessRule.ROLE_ALLOWS,
            AccessRule.SCOPE_ALLOWS,
            AccessRule.CLIENT_ROLE_ALLOWS,
        )


def explain(
    session: Session, user: User, permissions: Iterable[Permission]
) -> dict[Permission, AccessExplanation]:
    """Return why a loaded user may do each of these or not."""
    partner = session.get(Partner, user.partner_id) if user.partner_id else None
    organization = session.get(Organization, user.organization_id) if user.organization_id else None
    return {each: _explain(user, partner, organization, each) for each in permissions}


def _explain(
    user: User, partner: Partner | None, organization: Organization | None, permission: Permission
) -> AccessExplanation:
    holders = _roles_with(permission)
    if partner is not None and partner.suspended_at is not None:
        return AccessExplanation(AccessRule.PARTNER_SUSPENDED, holders, (Role.OPERATOR,))
    if organization is not None and organization.status is not OrganizationStatus.ACTIVE:
        changers = _roles_with(Permission.ORGANIZATIONS_WRITE)
        return AccessExplanation(AccessRule.ORGANIZATION_SUSPENDED, holders, changers)
    if user.status is not UserStatus.ACTIVE:
        return AccessExplanation(AccessRule.NOT_ACTIVE, holders, _changers_of(user.role))
    return of_role(user.role, permission)


def of_role(role: Role, permission: Permission) -> AccessExplanation:
    """Return why an active user with the role may do something or not."""
    holders = _roles_with(permission)
    if role in holders:
        return AccessExplanation(AccessRule.ROLE_ALLOWS, holders, ())
    if not holders:
        return AccessExplanation(AccessRule.NO_ROLE, (), ())
    kind = PARTNER_LEVEL if role in PARTNER_LEVEL else MEMBERS if role in MEMBERS else frozenset()
    attainable = kind.intersection(holders)
    if not attainable:
        return AccessExplanation(AccessRule.OTHER_KIND, holders, ())
    changers = tuple(
        giver
        for giver in Role
        if Permission.USERS_WRITE in ROLE_PERMISSIONS[giver]
        and role in grantable_roles(giver)
        and attainable & grantable_roles(giver)
    )
    return AccessExplanation(AccessRule.ROLE_TOO_LOW, holders, changers)


def role_giver(session: Session, user: User) -> tuple[User | None, datetime]:
    """Return who gave a loaded user their role, None for an operator or a script, and when."""
    changed = session.scalar(
        select(AuditEntry)
        .where(
            AuditEntry.target_type == "user",
            AuditEntry.target_id == str(user.id),
            AuditEntry.action == "user.role_changed",
        )
        .order_by(AuditEntry.id.desc())
        .limit(1)
    )
    giver_id, since = user.invited_by_id, user.created_at
    if changed is not None:
        giver_id, since = changed.actor_id, changed.at
    giver = session.get(User, giver_id) if giver_id else None
    return giver if giver is not None and giver.partner_id == user.partner_id else None, since


def role_managers(session: Session, user: User) -> Sequence[User]:
    """Return the first users who can give a loaded user another role: for a member owners of the
    organization, else partner admins."""
    role = User.has_role(Role.PARTNER_ADMIN)
    if user.organization_id is not None:
        role = (User.organization_id == user.organization_id) & User.is_owner
    query = select(User).where(
        User.partner_id == user.partner_id,
        User.status == UserStatus.ACTIVE,
        User.id != user.id,
        role,
    )
    return session.scalars(query.order_by(User.created_at, User.id).limit(MAX_TO_ASK)).all()


def of_key(key: ApiKey, permission: Permission) -> AccessExplanation:
    """Return why an API key, which the caller has loaded, may do something or not."""
    holders = _roles_with(permission)
    if key.is_over:
        rule = AccessRule.KEY_ENDED
    elif permission not in API_KEY_SCOPES:
        return AccessExplanation(AccessRule.NOT_FOR_KEYS, holders, ())
    elif permission in key.scopes:
        return AccessExplanation(AccessRule.SCOPE_ALLOWS, holders, ())
    else:
        rule = AccessRule.SCOPE_MISSING
    return AccessExplanation(rule, holders, _roles_with(Permission.CREDENTIALS_MANAGE))


def of_client(client: OAuthClient, permission: Permission) -> AccessExplanation:
    """Return why an API client, which the caller has loaded, may do something or not. A token can
    carry less."""
    holders = _roles_with(permission)
    now, end = utcnow(), client.expires_at
    if client.revoked_at is not None or (end is not None and end <= now):
        rule = AccessRule.CLIENT_ENDED
    elif client.suspended_at is not None:
        rule = AccessRule.CLIENT_SUSPENDED
    elif permission in permissions_of(client.area, client.role):
        return AccessExplanation(AccessRule.CLIENT_ROLE_ALLOWS, holders, ())
    else:
        rule = AccessRule.CLIENT_ROLE_TOO_LOW
    return AccessExplanation(rule, holders, _roles_with(Permission.CREDENTIALS_MANAGE))


def _roles_with(permission: Permission) -> tuple[Role, ...]:
    return tuple(role for role in Role if permission in ROLE_PERMISSIONS[role])


def _changers_of(role: Role) -> tuple[Role, ...]:
    return tuple(giver for giver in Role if role in grantable_roles(giver))
