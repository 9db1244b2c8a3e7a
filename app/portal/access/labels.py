"""The words of the rules that decide about access."""

from app.enums import Role
from app.languages import gettext
from app.portal.web.navigation import ROLE_NAMES
from app.services.users.access import Explanation, Rule


def answer(name: str, role: Role | None, explained: Explanation) -> str:
    """Return whether the user with the role, or the API key, may do it, and by which rule."""
    given = {"name": name, "role": str(ROLE_NAMES[role]) if role else ""}
    return {
        Rule.PARTNER_SUSPENDED: gettext("No. The portal is suspended."),
        Rule.ORGANIZATION_SUSPENDED: gettext(
            "No. The organization of %(name)s is suspended or archived.", **given
        ),
        Rule.NOT_ACTIVE: gettext("No. The account of %(name)s is not active.", **given),
        Rule.ROLE_ALLOWS: gettext("Yes. The role “%(role)s” allows it.", **given),
        Rule.ROLE_TOO_LOW: gettext("No. The role “%(role)s” doesn’t allow it.", **given),
        Rule.OTHER_KIND: gettext(
            "No. The role “%(role)s” doesn’t allow it, and %(name)s can’t get one that does.",
            **given,
        ),
        Rule.NO_ROLE: gettext("No. Only API clients can do this."),
        Rule.KEY_ENDED: gettext("No. The key “%(name)s” is revoked or has expired.", **given),
        Rule.SCOPE_ALLOWS: gettext("Yes. The key “%(name)s” has this scope.", **given),
        Rule.SCOPE_MISSING: gettext("No. The key “%(name)s” doesn’t have this scope.", **given),
        Rule.NOT_FOR_KEYS: gettext("No. API keys can’t do this."),
    }[explained.rule]


def way_on(explained: Explanation) -> str:
    """Return what would change the answer."""
    return {
        Rule.PARTNER_SUSPENDED: gettext("Reactivate the portal."),
        Rule.ORGANIZATION_SUSPENDED: gettext("Reactivate the organization."),
        Rule.NOT_ACTIVE: gettext(
            "The user accepts the invitation, or someone reactivates the account."
        ),
        Rule.KEY_ENDED: gettext("Create a new key."),
        Rule.SCOPE_MISSING: gettext("Create a new key with this scope."),
        Rule.NOT_FOR_KEYS: gettext("Use an API client or the portal."),
        Rule.SCOPE_ALLOWS: gettext(
            "If it is still refused: the record may belong to another organization, or its status "
            "doesn’t allow it."
        ),
        Rule.ROLE_ALLOWS: gettext(
            "If it is still refused: the record may belong to another organization, or its status "
            "doesn’t allow it."
        ),
        Rule.ROLE_TOO_LOW: gettext(
            "Give the user a role that allows it. Users can’t change their own role."
        )
        if explained.changers
        else "",
        Rule.OTHER_KIND: gettext("It needs another account, with a role that allows it."),
        Rule.NO_ROLE: gettext("Use an API client with this permission."),
    }[explained.rule]
