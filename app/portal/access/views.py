"""Why a user, an API key or an API client may do something or not, from the policy table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from flask import render_template, request, url_for
from flask_login import current_user
from sqlalchemy.orm import Session

from app.enums import Role
from app.errors import NotFound
from app.extensions import caller, transaction
from app.languages import gettext
from app.models import ApiKey, OAuthClient, OrganizationGroup, User
from app.policy import ROUTES, Permission
from app.policy.step_up import STEP_UP
from app.portal.access import blueprint
from app.portal.access.labels import (
    GROUPS,
    PART_LABELS,
    PERMISSION_LABELS,
    answer,
    groups_label,
    names_of,
    way_on,
)
from app.portal.web.navigation import may_open
from app.services import oauth_clients, organization_groups, organizations, users
from app.services.auth.sessions import FRESH_FOR
from app.services.credentials import api_keys
from app.services.users.access import (
    AccessExplanation,
    AccessRule,
    explain,
    of_client,
    of_key,
    role_giver,
    role_managers,
)
from app.validation.uuids import as_uuid

ASKING = frozenset(ROUTES[endpoint] for endpoint in STEP_UP)
"""The permissions with actions that need a fresh proof."""
NEVER = frozenset({AccessRule.OTHER_KIND, AccessRule.NO_ROLE, AccessRule.NOT_FOR_KEYS})
"""Rules whose answer no other role or key of the same kind changes."""
MINUTES = int(FRESH_FOR.total_seconds() // 60)


@dataclass(frozen=True, slots=True)
class AccessAction:
    """An action of the page; ``url`` is its explanation."""

    url: str
    label: str
    is_allowed: bool
    is_selected: bool


@blueprint.get("/access/why")
def explain_access() -> str:
    permission = _requested_permission(request.args.get("action"))
    with transaction(read_only=True) as session:
        subject = _requested_subject(session)
        about, explanations = _subject_context(session, subject), _explain_all(session, subject)
    if permission:
        about |= _answer_context(subject, permission, explanations[permission])
        about["part"] = _part_label(permission, request.args.get("part"))
    return render_template(
        "portal/access/why.html",
        actions=_list_actions(explanations, permission),
        groups_label=groups_label,
        names_of=names_of,
        **about,
    )


def _requested_subject(session: Session) -> User | ApiKey | OAuthClient:
    """Return whose access is explained: the signed-in user's unless the URL names another. Raises
    `NotFound` for users that the caller can't see."""
    if subject_id := request.args.get("key"):
        return api_keys.get(session, caller(), _parse_id(subject_id))
    if subject_id := request.args.get("client"):
        return oauth_clients.get(session, caller(), _parse_id(subject_id))
    if subject_id := request.args.get("user"):
        caller().require(Permission.USERS_READ)
        return users.get_with_organization(session, caller(), _parse_id(subject_id))[0]
    signed_in: User = current_user.user
    return signed_in


def _subject_context(session: Session, subject: User | ApiKey | OAuthClient) -> dict[str, Any]:
    user = subject if isinstance(subject, User) else None
    name = _name_of(subject)
    return {
        **(_user_details(session, user) if user else {}),
        **_subject_links(subject, name),
        "groups": _limiting_groups(session, subject),
        "name": name,
        "role": _role_of(subject),
        "key": subject if isinstance(subject, ApiKey) else None,
        "client": subject if isinstance(subject, OAuthClient) else None,
        "user": user,
        "is_self": _is_self(subject),
    }


def _name_of(subject: User | ApiKey | OAuthClient) -> str:
    return subject.name or subject.email if isinstance(subject, User) else subject.name


def _role_of(subject: User | ApiKey | OAuthClient) -> Role | None:
    return None if isinstance(subject, ApiKey) else subject.role


def _is_self(subject: User | ApiKey | OAuthClient) -> bool:
    return isinstance(subject, User) and subject.id == caller().subject_id


def _subject_links(subject: User | ApiKey | OAuthClient, name: str) -> dict[str, Any]:
    """Return what the subject is, its page, and the way there; no page of users themselves, and
    of others only to those who may open it."""
    url: str | None
    if isinstance(subject, ApiKey):
        kind, parent = (
            gettext("API key"),
            (gettext("API access"), url_for("portal.api_access.list_keys")),
        )
        url = url_for("portal.api_access.show_key", key_id=subject.id)
    elif isinstance(subject, OAuthClient):
        kind = gettext("API client")
        parent = (gettext("API clients"), url_for("portal.api_access.list_clients"))
        url = url_for("portal.api_access.show_client", client_id=subject.id)
    else:
        kind, parent = gettext("User"), (gettext("Users"), url_for("portal.users.list_users"))
        is_open = may_open(caller(), "portal.users.show_user") and not _is_self(subject)
        url = url_for("portal.users.show_user", user_id=subject.id) if is_open else None
    crumbs = [parent, (name, url), (gettext("Check access"), None)] if url else []
    return {"kind": kind, "url": url, "crumbs": crumbs}


def _answer_context(
    subject: User | ApiKey | OAuthClient, permission: Permission, explained: AccessExplanation
) -> dict[str, Any]:
    """Return the answer to the chosen action."""
    is_self = _is_self(subject)
    asks_again = isinstance(subject, User) and explained.is_allowed and permission in ASKING
    return {
        "explained": explained,
        "answer": answer(_name_of(subject), _role_of(subject), explained, is_self=is_self),
        "action": gettext(PERMISSION_LABELS[permission]),
        "way_on": way_on(explained, is_self=is_self),
        "asks_again": MINUTES if asks_again else None,
    }


def _explain_all(
    session: Session, subject: User | ApiKey | OAuthClient
) -> dict[Permission, AccessExplanation]:
    if isinstance(subject, ApiKey):
        return {each: of_key(subject, each) for each in PERMISSION_LABELS}
    if isinstance(subject, OAuthClient):
        return {each: of_client(subject, each) for each in PERMISSION_LABELS}
    return explain(session, subject, PERMISSION_LABELS)


def _user_details(session: Session, user: User) -> dict[str, Any]:
    organization_id = user.organization_id
    giver, given_at = role_giver(session, user)
    return {
        "organization": organizations.get(session, caller(), organization_id)
        if organization_id
        else None,
        "giver": giver,
        "given_at": given_at,
        "managers": role_managers(session, user),
    }


def _list_actions(
    explanations: dict[Permission, AccessExplanation], selected: Permission | None
) -> list[tuple[str, list[AccessAction]]]:
    """Return the actions by group, without those that no role of the same kind allows."""
    subject: dict[str, Any] = {name: request.args.get(name) for name in ("user", "key", "client")}
    groups = []
    for heading, permissions in GROUPS:
        actions = [
            AccessAction(
                url_for("portal.access.explain_access", action=each.value, **subject),
                gettext(PERMISSION_LABELS[each]),
                explanations[each].is_allowed,
                each is selected,
            )
            for each in permissions
            if explanations[each].rule not in NEVER
        ]
        groups.append((heading, sorted(actions, key=lambda action: not action.is_allowed)))
    return [(heading, actions) for heading, actions in groups if actions]


def _limiting_groups(
    session: Session, subject: User | ApiKey | OAuthClient
) -> Sequence[OrganizationGroup] | None:
    """Return the groups that a user or client is limited to, None without a limit."""
    if isinstance(subject, ApiKey):
        return None
    if not subject.is_limited or subject.role is not Role.ADMIN:
        return None
    return organization_groups.groups_of(session, subject)


def _requested_permission(text: str | None) -> Permission | None:
    """Return the permission of the URL. Raises `NotFound` for an unknown one."""
    if not text:
        return None
    if text not in set(Permission):
        raise NotFound
    return Permission(text)


def _part_label(permission: Permission, name: str | None) -> str | None:
    """Return the words of a part of the permission. Raises `NotFound` for an unknown part."""
    if not name:
        return None
    whole, label = PART_LABELS.get(name, (None, ""))
    if whole is not permission:
        raise NotFound
    return gettext(label)


def _parse_id(text: str) -> UUID:
    """Return the id of the URL. Raises `NotFound` for an invalid one."""
    subject_id = as_uuid(text)
    if subject_id is None:
        raise NotFound
    return subject_id
