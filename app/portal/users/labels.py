"""The permissions in words: roles are described from the policy table itself."""

from app.enums import Role
from app.languages import gettext, gettext_noop, lazy_gettext
from app.policy import ROLE_PERMISSIONS, Permission

PERMISSION_WORDS: dict[Permission, str] = {
    Permission.PARTNER_READ: gettext_noop("See your company details"),
    Permission.PARTNER_CREATE: gettext_noop("Add resellers"),
    Permission.PARTNER_WRITE: gettext_noop(
        "Change billing, addresses and all other company details"
    ),
    Permission.BRANDING_WRITE: gettext_noop(
        "Change colours, logos, links and the other brand surfaces"
    ),
    Permission.PRICING_READ: gettext_noop("See plans and prices"),
    Permission.USERS_READ: gettext_noop("See users"),
    Permission.USERS_WRITE: gettext_noop("Invite, change and suspend users"),
    Permission.ADMINS_CREATE: gettext_noop("Add customer admins"),
    Permission.ORGANIZATIONS_READ: gettext_noop("See organizations and their settings"),
    Permission.ORGANIZATIONS_WRITE: gettext_noop("Add, change, suspend and archive organizations"),
    Permission.ASSISTANTS_READ: gettext_noop("See assistants"),
    Permission.ASSISTANTS_WRITE: gettext_noop("Change assistants"),
    Permission.REPORT_READ: gettext_noop("See the report"),
    Permission.SUBSCRIPTION_READ: gettext_noop("See which plan an organization is on"),
    Permission.USAGE_READ: gettext_noop("See usage"),
    Permission.CREDENTIALS_MANAGE: gettext_noop("Create and revoke API keys and clients"),
    Permission.AUDIT_READ: gettext_noop("See who changed what"),
    Permission.CAMPAIGNS_READ: gettext_noop("See campaigns"),
    Permission.CAMPAIGNS_WRITE: gettext_noop("Create, start and pause campaigns"),
    Permission.CONTACTS_READ: gettext_noop("See contacts and do-not-call lists"),
    Permission.CONTACTS_WRITE: gettext_noop("Upload and change contacts and do-not-call lists"),
    Permission.CALLS_READ: gettext_noop("See calls"),
    Permission.CALLS_CREATE: gettext_noop("Place test calls and cancel calls"),
    Permission.LEGACY_CALL: gettext_noop("Place calls through the legacy API"),
}
"""One sentence for each permission, in English; a test compares it with the table."""

ROLE_SCOPE: dict[Role, str] = {
    Role.PARTNER_ADMIN: lazy_gettext("Everything inside your company."),
    Role.PARTNER_EDITOR: lazy_gettext(
        "Brand and outreach. Can see the rest, except billing and keys."
    ),
    Role.ADMIN: lazy_gettext("Your customers: their organizations, users, campaigns and figures."),
    Role.OWNER: lazy_gettext("One organization, as a member, and its members and assistants."),
    Role.STANDARD: lazy_gettext("One organization: its campaigns, contacts, calls and usage."),
}
"""What each role is for, in one line."""


def abilities(role: Role) -> list[str]:
    """Return what the role may do, in the order of the policy table."""
    held = ROLE_PERMISSIONS[role]
    return [gettext(words) for permission, words in PERMISSION_WORDS.items() if permission in held]


def abilities_title(role: Role) -> str:
    """Return the heading of `abilities`."""
    return {
        Role.PARTNER_ADMIN: gettext("What a partner admin may do"),
        Role.PARTNER_EDITOR: gettext("What a partner editor may do"),
        Role.ADMIN: gettext("What a customer admin may do"),
        Role.OWNER: gettext("What an owner may do"),
        Role.STANDARD: gettext("What a member may do"),
        Role.OPERATOR: gettext("What a platform operator may do"),
    }[role]


def confirm_role_title(name: str, role: Role) -> str:
    """Return the title of the confirmation that the user of this name gets the role."""
    titles = {
        Role.PARTNER_ADMIN: gettext("Make %(name)s a partner admin?", name=name),
        Role.PARTNER_EDITOR: gettext("Make %(name)s a partner editor?", name=name),
        Role.ADMIN: gettext("Make %(name)s a customer admin?", name=name),
        Role.OWNER: gettext("Make %(name)s an owner?", name=name),
        Role.STANDARD: gettext("Make %(name)s a member?", name=name),
    }
    return titles[role]


def role_changed(name: str, role: Role) -> str:
    """Return the message that the user of this name has the role."""
    messages = {
        Role.PARTNER_ADMIN: gettext("%(name)s is a partner admin now.", name=name),
        Role.PARTNER_EDITOR: gettext("%(name)s is a partner editor now.", name=name),
        Role.ADMIN: gettext("%(name)s is a customer admin now.", name=name),
        Role.OWNER: gettext("%(name)s is an owner now.", name=name),
        Role.STANDARD: gettext("%(name)s is a member now.", name=name),
    }
    return messages[role]
