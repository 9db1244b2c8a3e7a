"""Users and their roles in words, these described from the policy table itself."""

from app.enums import Role
from app.extensions import caller
from app.languages import gettext, lazy_gettext
from app.policy import ROLE_PERMISSIONS, Permission
from app.portal.access.labels import PERMISSION_LABELS
from app.portal.access.missing_actions import may_or_note_missing

ROLE_SCOPE: dict[Role, str] = {
    Role.PARTNER_ADMIN: lazy_gettext("Everything inside your company."),
    Role.PARTNER_EDITOR: lazy_gettext(
        "Brand and outreach. Can see the rest, except billing and keys."
    ),
    Role.ADMIN: lazy_gettext("Your customers: their organizations, users, campaigns and figures."),
    Role.OWNER: lazy_gettext(
        "One organization: all that a member may do, and its users and assistants."
    ),
    Role.STANDARD: lazy_gettext("One organization: its campaigns, contacts, calls and usage."),
}
"""The purpose of each role, in one line."""


def list_message(partner: str | None) -> str:
    """Say which users the list shows; ``partner`` is the one that an operator chose."""
    if partner:
        return gettext("Everyone with access to the portal of %(name)s.", name=partner)
    if caller().is_operator:
        return gettext("Everyone with access to a portal.")
    if may_or_note_missing(Permission.ORGANIZATIONS_READ):
        return gettext("Everyone with access to your portal.")
    return gettext("Everyone with access to your organization.")


def abilities(role: Role) -> list[str]:
    """Return what the role may do, in the order of the policy table."""
    permissions = ROLE_PERMISSIONS[role]
    return [
        gettext(label)
        for permission, label in PERMISSION_LABELS.items()
        if permission in permissions
    ]


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
    """Return the title of the confirmation before the user of this name gets the role."""
    titles = {
        Role.PARTNER_ADMIN: gettext("Make %(name)s a partner admin?", name=name),
        Role.PARTNER_EDITOR: gettext("Make %(name)s a partner editor?", name=name),
        Role.ADMIN: gettext("Make %(name)s a customer admin?", name=name),
        Role.OWNER: gettext("Make %(name)s an owner?", name=name),
        Role.STANDARD: gettext("Make %(name)s a member?", name=name),
    }
    return titles[role]


def role_changed(name: str, role: Role) -> str:
    """Return the message that the user of this name now has the role."""
    messages = {
        Role.PARTNER_ADMIN: gettext("%(name)s is a partner admin now.", name=name),
        Role.PARTNER_EDITOR: gettext("%(name)s is a partner editor now.", name=name),
        Role.ADMIN: gettext("%(name)s is a customer admin now.", name=name),
        Role.OWNER: gettext("%(name)s is an owner now.", name=name),
        Role.STANDARD: gettext("%(name)s is a member now.", name=name),
    }
    return messages[role]
