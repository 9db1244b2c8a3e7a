"""The words of the rules that decide about access."""

from app.languages import gettext
from app.models import User
from app.portal.web.navigation import ROLE_NAMES
from app.services.users.access import Explanation, Rule


def answer(user: User, explained: Explanation) -> str:
    """Return whether the user may do it, and by which rule."""
    given = {"name": user.name or user.email, "role": str(ROLE_NAMES[user.role])}
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
    }[explained.rule]


def way_on(explained: Explanation) -> str:
    """Return what would change the answer."""
    return {
        Rule.PARTNER_SUSPENDED: gettext("Reactivate the portal."),
        Rule.ORGANIZATION_SUSPENDED: gettext("Reactivate the organization."),
        Rule.NOT_ACTIVE: gettext(
            "The user accepts the invitation, or someone reactivates the account."
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
