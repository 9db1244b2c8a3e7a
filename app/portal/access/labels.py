"""The words of the permissions, and of the rules that decide about access."""

from collections.abc import Sequence

from app.enums import Role
from app.languages import gettext, gettext_noop, lazy_gettext, pgettext
from app.models import OrganizationGroup
from app.policy import Permission
from app.policy.parts import part_of_page
from app.portal.web.formats import ROLE_NAMES
from app.services.users.access import AccessExplanation, AccessRule

PERMISSION_LABELS: dict[Permission, str] = {
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
    Permission.PERSONAL_DATA: gettext_noop("Export and erase the data about a person"),
    Permission.CAMPAIGNS_READ: gettext_noop("See campaigns"),
    Permission.CAMPAIGNS_WRITE: gettext_noop("Create, start and pause campaigns"),
    Permission.CONTACTS_READ: gettext_noop("See contacts and do-not-call lists"),
    Permission.CONTACTS_WRITE: gettext_noop("Upload and change contacts and do-not-call lists"),
    Permission.CALLS_READ: gettext_noop("See calls"),
    Permission.CALLS_CREATE: gettext_noop("Place test calls and cancel calls"),
    Permission.LEGACY_CALL: gettext_noop("Place calls through the legacy API"),
}
"""One sentence for each permission, in English; a test compares it with the table."""

PART_LABELS: dict[str, tuple[Permission, str]] = {
    "alert-rules": (
        Permission.ORGANIZATIONS_WRITE,
        gettext_noop("Change alert rules and acknowledge alerts"),
    ),
    "margin": (
        Permission.ORGANIZATIONS_WRITE,
        gettext_noop("See the price to customers and the margin"),
    ),
    "report-schedule": (Permission.ORGANIZATIONS_WRITE, gettext_noop("Schedule report emails")),
    "templates": (Permission.ORGANIZATIONS_WRITE, gettext_noop("Use organization templates")),
    "assistants": (Permission.ORGANIZATIONS_WRITE, gettext_noop("Add assistants")),
    "phone-numbers": (
        Permission.ORGANIZATIONS_WRITE,
        gettext_noop("Verify and move phone numbers"),
    ),
    "prices": (Permission.PARTNER_WRITE, gettext_noop("Change plans and prices")),
    "pause": (Permission.PARTNER_WRITE, gettext_noop("Pause and resume calling")),
    "carrier-accounts": (
        Permission.CREDENTIALS_MANAGE,
        gettext_noop("Connect your own carrier accounts"),
    ),
    "carrier-status": (Permission.AUDIT_READ, gettext_noop("See the carrier status")),
    "payment": (Permission.CREDENTIALS_MANAGE, gettext_noop("Connect Stripe")),
    "company-accounts": (
        Permission.CREDENTIALS_MANAGE,
        gettext_noop("Set up sign-in with company accounts, and the directory"),
    ),
    "groups": (Permission.CREDENTIALS_MANAGE, gettext_noop("Manage groups of organizations")),
}
"""Parts of permissions, for pages on which the sentence of the whole permission would not fit."""

GROUPS: tuple[tuple[str, tuple[Permission, ...]], ...] = (
    (
        lazy_gettext("Campaigns and calls"),
        (
            Permission.CAMPAIGNS_READ,
            Permission.CAMPAIGNS_WRITE,
            Permission.CONTACTS_READ,
            Permission.CONTACTS_WRITE,
            Permission.CALLS_READ,
            Permission.CALLS_CREATE,
            Permission.ASSISTANTS_READ,
            Permission.ASSISTANTS_WRITE,
        ),
    ),
    (
        lazy_gettext("Organizations and users"),
        (
            Permission.ORGANIZATIONS_READ,
            Permission.ORGANIZATIONS_WRITE,
            Permission.USERS_READ,
            Permission.USERS_WRITE,
            Permission.ADMINS_CREATE,
            Permission.PERSONAL_DATA,
        ),
    ),
    (
        lazy_gettext("Plans and figures"),
        (
            Permission.USAGE_READ,
            Permission.REPORT_READ,
            Permission.PRICING_READ,
            Permission.SUBSCRIPTION_READ,
        ),
    ),
    (
        lazy_gettext("Company and API"),
        (
            Permission.PARTNER_READ,
            Permission.PARTNER_WRITE,
            Permission.BRANDING_WRITE,
            Permission.CREDENTIALS_MANAGE,
            Permission.AUDIT_READ,
            Permission.PARTNER_CREATE,
            Permission.LEGACY_CALL,
        ),
    ),
)
"""The permissions as the page of access shows them; a test compares them with the table."""


def permission_label(permission: Permission, endpoint: str) -> str:
    """Return what a page's endpoint needs in words: the permission, or the part of it."""
    part = part_of_page(endpoint, permission)
    return gettext(PART_LABELS[part][1] if part else PERMISSION_LABELS[permission])


def answer(
    name: str, role: Role | None, explained: AccessExplanation, *, is_self: bool = False
) -> str:
    """Return whether the user with the role, or the API key, may do it, and the rule that
    decides."""
    if is_self and explained.rule is AccessRule.OTHER_KIND:
        return gettext(
            "No. The role “%(role)s” doesn’t allow it, and you can’t get one that does.",
            role=str(ROLE_NAMES[role]) if role else "",
        )
    names = {"name": name, "role": str(ROLE_NAMES[role]) if role else ""}
    return {
        AccessRule.PARTNER_SUSPENDED: gettext("No. The portal is suspended."),
        AccessRule.ORGANIZATION_SUSPENDED: gettext(
            "No. The organization of %(name)s is suspended or archived.", **names
        ),
        AccessRule.NOT_ACTIVE: gettext("No. The account of %(name)s is not active.", **names),
        AccessRule.ROLE_ALLOWS: gettext("Yes. The role “%(role)s” allows it.", **names),
        AccessRule.ROLE_TOO_LOW: gettext("No. The role “%(role)s” doesn’t allow it.", **names),
        AccessRule.OTHER_KIND: gettext(
            "No. The role “%(role)s” doesn’t allow it, and %(name)s can’t get one that does.",
            **names,
        ),
        AccessRule.NO_ROLE: gettext("No. Only API clients can do this."),
        AccessRule.KEY_ENDED: gettext("No. The key “%(name)s” is revoked or has expired.", **names),
        AccessRule.SCOPE_ALLOWS: gettext("Yes. The key “%(name)s” has this scope.", **names),
        AccessRule.SCOPE_MISSING: gettext(
            "No. The key “%(name)s” doesn’t have this scope.", **names
        ),
        AccessRule.NOT_FOR_KEYS: gettext("No. API keys can’t do this."),
        AccessRule.CLIENT_ENDED: gettext(
            "No. The client “%(name)s” is revoked or has expired.", **names
        ),
        AccessRule.CLIENT_SUSPENDED: gettext("No. The client “%(name)s” is suspended.", **names),
        AccessRule.CLIENT_ROLE_ALLOWS: gettext(
            "Yes. The role of the client “%(name)s” allows it.", **names
        ),
        AccessRule.CLIENT_ROLE_TOO_LOW: gettext(
            "No. The role of the client “%(name)s” doesn’t allow it.", **names
        ),
    }[explained.rule]


def way_on(explained: AccessExplanation, *, is_self: bool) -> str:
    """Return what would change the answer; for users themselves, the roles that they can ask."""
    if is_self and explained.rule is AccessRule.ROLE_TOO_LOW:
        roles = ", ".join(str(ROLE_NAMES[role]) for role in explained.changers)
        return gettext(
            "Ask a user with one of these roles for another role: %(roles)s.", roles=roles
        )
    return {
        AccessRule.PARTNER_SUSPENDED: gettext("Reactivate the portal."),
        AccessRule.ORGANIZATION_SUSPENDED: gettext("Reactivate the organization."),
        AccessRule.NOT_ACTIVE: gettext(
            "The user accepts the invitation, or someone reactivates the account."
        ),
        AccessRule.KEY_ENDED: gettext("Create a new key."),
        AccessRule.SCOPE_MISSING: gettext("Create a new key with this scope."),
        AccessRule.NOT_FOR_KEYS: gettext("Use an API client or the portal."),
        AccessRule.CLIENT_ENDED: gettext("Create a new client."),
        AccessRule.CLIENT_SUSPENDED: gettext("Resume the client."),
        AccessRule.CLIENT_ROLE_ALLOWS: gettext(
            "If it is still refused: the token may have been requested with fewer scopes, or the "
            "record may belong to another organization."
        ),
        AccessRule.CLIENT_ROLE_TOO_LOW: gettext("Create a new client with a role that allows it."),
        AccessRule.SCOPE_ALLOWS: gettext(
            "If it is still refused: the record may belong to another organization, or its status "
            "doesn’t allow it."
        ),
        AccessRule.ROLE_ALLOWS: gettext(
            "If it is still refused: the record may belong to another organization, or its status "
            "doesn’t allow it."
        ),
        AccessRule.ROLE_TOO_LOW: gettext(
            "Give the user a role that allows it. Users can’t change their own role."
        )
        if explained.changers
        else "",
        AccessRule.OTHER_KIND: gettext("It needs another account, with a role that allows it."),
        AccessRule.NO_ROLE: gettext("Use an API client with this permission."),
    }[explained.rule]


def groups_label(groups: Sequence[OrganizationGroup]) -> str:
    """Return the limit of a user or client to groups of organizations."""
    if not groups:
        return gettext("Limited to groups of organizations, but no group is left.")
    return gettext(
        "Limited to the organizations of these groups: %(names)s.", names=names_of(groups)
    )


def names_of(groups: Sequence[OrganizationGroup] | None) -> str:
    """Return the groups that someone is limited to, None without a limit."""
    if groups is None:
        return pgettext("organizations", "All")
    return ", ".join(group.name for group in groups) or gettext("None")
