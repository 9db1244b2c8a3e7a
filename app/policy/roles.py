"""The permissions of each role. Finer rules (which fields, which user types) are in the
services."""

from enum import StrEnum

from app.enums import Role


class Permission(StrEnum):
    """Permissions; the values are the scope words that tokens and keys carry."""

    PARTNER_READ = "partner:read"
    PARTNER_CREATE = "partner:create"
    PARTNER_WRITE = "partner:write"
    BRANDING_WRITE = "branding:write"
    PRICING_READ = "pricing:read"
    USERS_READ = "users:read"
    USERS_WRITE = "users:write"
    ADMINS_CREATE = "admins:create"
    ORGANIZATIONS_READ = "organizations:read"
    ORGANIZATIONS_WRITE = "organizations:write"
    ASSISTANTS_READ = "assistants:read"
    ASSISTANTS_WRITE = "assistants:write"
    REPORT_READ = "report:read"
    SUBSCRIPTION_READ = "subscription:read"
    USAGE_READ = "usage:read"
    CREDENTIALS_MANAGE = "credentials:manage"
    AUDIT_READ = "audit:read"
    CAMPAIGNS_READ = "campaigns:read"
    CAMPAIGNS_WRITE = "campaigns:write"
    CONTACTS_READ = "contacts:read"
    CONTACTS_WRITE = "contacts:write"
    CALLS_READ = "calls:read"
    CALLS_CREATE = "calls:create"
    PERSONAL_DATA = "privacy:manage"
    LEGACY_CALL = "phone/call.out"


P = Permission

_OUTREACH = frozenset(
    {
        P.CAMPAIGNS_READ,
        P.CAMPAIGNS_WRITE,
        P.CONTACTS_READ,
        P.CONTACTS_WRITE,
        P.CALLS_READ,
        P.CALLS_CREATE,
    }
)
_READS = frozenset(
    {
        P.PARTNER_READ,
        P.PRICING_READ,
        P.USERS_READ,
        P.ORGANIZATIONS_READ,
        P.ASSISTANTS_READ,
        P.REPORT_READ,
        P.SUBSCRIPTION_READ,
        P.USAGE_READ,
    }
)

ROLE_PERMISSIONS: dict[Role, frozenset[Permission]] = {
    Role.OPERATOR: _READS
    | {P.PARTNER_CREATE, P.PARTNER_WRITE, P.BRANDING_WRITE, P.USERS_WRITE, P.ORGANIZATIONS_WRITE}
    | {P.ASSISTANTS_WRITE, P.ADMINS_CREATE, P.AUDIT_READ, P.PERSONAL_DATA},
    Role.PARTNER_ADMIN: _READS
    | _OUTREACH
    | {P.PARTNER_WRITE, P.BRANDING_WRITE, P.USERS_WRITE, P.ADMINS_CREATE, P.ORGANIZATIONS_WRITE}
    | {P.ASSISTANTS_WRITE, P.CREDENTIALS_MANAGE, P.AUDIT_READ, P.PERSONAL_DATA},
    Role.PARTNER_EDITOR: _READS | _OUTREACH | {P.BRANDING_WRITE},
    Role.ADMIN: _READS
    | _OUTREACH
    | {P.USERS_WRITE, P.ORGANIZATIONS_WRITE, P.ASSISTANTS_WRITE, P.PERSONAL_DATA},
    Role.OWNER: _OUTREACH
    | {P.USAGE_READ, P.USERS_READ, P.USERS_WRITE, P.ASSISTANTS_READ, P.ASSISTANTS_WRITE}
    | {P.PERSONAL_DATA},
    Role.STANDARD: _OUTREACH | {P.USAGE_READ},
}

API_KEY_SCOPES: frozenset[Permission] = frozenset(
    {P.CONTACTS_READ, P.CONTACTS_WRITE, P.CALLS_READ, P.CALLS_CREATE}
)
"""Scopes of an Area C key (docs/decisions/access.md#api-keys)."""
