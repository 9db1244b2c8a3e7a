"""The actions that a page leaves out because the user's role doesn't allow them.

Views and templates ask `may_or_note_missing` before they show an action. What is denied is named at
the end of the page, with a link to its explanation, unless `why_url` explains it beside the action.
"""

from functools import lru_cache

from flask import g, url_for

from app.enums import Role
from app.extensions import caller
from app.languages import gettext
from app.policy import Permission
from app.portal.access.labels import PART_LABELS, PERMISSION_LABELS
from app.portal.web.blueprint import portal
from app.portal.web.current_user import known_user
from app.services.users.access import AccessRule, of_role


@portal.app_template_global()
def may_or_note_missing(permission: str, part: str | None = None) -> bool:
    """Whether the user may do it; if not, the end of the page names it. Only what another role of
    the same kind allows is named: the ``part`` of the permission that the page is about (see
    `PART_LABELS`), or all of it."""
    if known_user() is None:
        return False
    required = Permission(permission)
    if caller().may(required):
        return True
    if _another_role_may(caller().role, required):
        _denied_permissions().setdefault((required, part), True)
    return False


@portal.app_template_global()
def may(permission: str) -> bool:
    """Return whether the user has the permission, without naming it at the end of the page: for
    texts of a page that would be complete without it."""
    return known_user() is not None and caller().may(Permission(permission))


@portal.app_template_global()
def why_url(permission: str) -> str:
    """Return the explanation of an action, which the end of the page then leaves out."""
    _denied_permissions()[Permission(permission), None] = False
    return url_for("portal.access.explain_access", action=permission)


@portal.app_template_global()
def missing_actions() -> list[tuple[str, str]]:
    """Return the URL of the explanation and the words of each denied action."""
    return [
        (
            url_for("portal.access.explain_access", action=each.value, part=part),
            gettext(PART_LABELS[part][1] if part else PERMISSION_LABELS[each]),
        )
        for (each, part), is_open in _denied_permissions().items()
        if is_open
    ]


def _denied_permissions() -> dict[tuple[Permission, str | None], bool]:
    """Return the permissions, and parts of them, that the page has asked for in vain; True if
    nothing next to the action explains it."""
    denied: dict[tuple[Permission, str | None], bool] = g.setdefault("denied_permissions", {})
    return denied


@lru_cache
def _another_role_may(role: Role, permission: Permission) -> bool:
    return of_role(role, permission).rule is AccessRule.ROLE_TOO_LOW
