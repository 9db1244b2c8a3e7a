"""The permissions in words: roles are described from the policy table itself."""

from app.enums import Role
from app.policy import ROLE_PERMISSIONS, Permission

PERMISSION_WORDS: dict[Permission, str] = {
    Permission.PARTNER_READ: "See your company details",
    Permission.PARTNER_CREATE: "Add resellers",
    Permission.PARTNER_WRITE: "Change billing, addresses and all other company details",
    Permission.BRANDING_WRITE: "Change colours, logos, links and the other brand surfaces",
    Permission.PRICING_READ: "See plans and prices",
    Permission.USERS_READ: "See users",
    Permission.USERS_WRITE: "Invite, change and suspend users",
    Permission.ADMINS_CREATE: "Add customer admins",
    Permission.ORGANIZATIONS_READ: "See organizations and their settings",
    Permission.ORGANIZATIONS_WRITE: "Add, change, suspend and archive organizations",
    Permission.ASSISTANTS_READ: "See assistants",
    Permission.ASSISTANTS_WRITE: "Change assistants",
    Permission.REPORT_READ: "See the report",
    Permission.SUBSCRIPTION_READ: "See which plan an organization is on",
    Permission.USAGE_READ: "See usage",
    Permission.CREDENTIALS_MANAGE: "Create and revoke API keys and clients",
    Permission.AUDIT_READ: "See who changed what",
    Permission.CAMPAIGNS_READ: "See campaigns",
    Permission.CAMPAIGNS_WRITE: "Create, start and pause campaigns",
    Permission.CONTACTS_READ: "See contacts and do-not-call lists",
    Permission.CONTACTS_WRITE: "Upload and change contacts and do-not-call lists",
    Permission.CALLS_READ: "See calls",
    Permission.CALLS_CREATE: "Place test calls and cancel calls",
    Permission.LEGACY_CALL: "Place calls through the legacy API",
}
"""One sentence for each permission; a test compares it with the table."""

ROLE_SCOPE: dict[Role, str] = {
    Role.PARTNER_ADMIN: "Everything inside your company.",
    Role.PARTNER_EDITOR: "Brand and outreach. Can see the rest, except billing and keys.",
    Role.ADMIN: "Your customers: their organizations, users, campaigns and figures.",
    Role.OWNER: "One organization, as a member, and its members and assistants.",
    Role.STANDARD: "One organization: its campaigns, contacts, calls and usage.",
}
"""What each role is for, in one line."""


def abilities(role: Role) -> list[str]:
    """Return what the role may do, in the order of the policy table."""
    held = ROLE_PERMISSIONS[role]
    return [words for permission, words in PERMISSION_WORDS.items() if permission in held]
