"""Why a user or an API key may do something or not, from the policy table."""

from dataclasses import dataclass
from uuid import UUID

from flask import render_template, request, url_for
from flask_login import current_user

from app.errors import NotFound
from app.extensions import caller, transaction
from app.languages import gettext
from app.models import ApiKey, User
from app.policy import Permission
from app.portal.access.labels import answer, way_on
from app.portal.users.labels import PERMISSION_WORDS
from app.portal.web.blueprint import portal
from app.portal.web.navigation import may_open
from app.services import users
from app.services.credentials import api_keys
from app.services.users.access import explain, of_key
from app.validation.uuids import as_uuid


@dataclass(frozen=True, slots=True)
class Action:
    """A row of the table of all actions; ``url`` is its explanation."""

    url: str
    words: str
    is_allowed: bool
    is_chosen: bool


@portal.get("/access/why")
def access_why() -> str:
    permission = _permission(request.args.get("action"))
    user: User | None = None
    key: ApiKey | None = None
    with transaction(read_only=True) as session:
        if chosen := request.args.get("key"):
            key = api_keys.get(session, caller(), _id(chosen))
        elif chosen := request.args.get("user"):
            caller().require(Permission.USERS_READ)
            user = users.get(session, caller(), _id(chosen))
        else:
            user = current_user.user
        found = {
            each: of_key(key, each) if key else explain(session, user or current_user.user, each)
            for each in PERMISSION_WORDS
        }
    explained = found[permission] if permission else None
    name = key.name if key else user.name or user.email if user else ""
    role = user.role if user else None
    return render_template(
        "portal/access/why.html",
        name=name,
        role=role,
        key=key,
        user=user,
        is_self=user is not None and user.id == caller().subject_id,
        may_open_user=may_open(caller(), "portal.user"),
        actions=[
            Action(
                url_for(
                    "portal.access_why",
                    action=each.value,
                    user=request.args.get("user"),
                    key=request.args.get("key"),
                ),
                gettext(words),
                found[each].is_allowed,
                each is permission,
            )
            for each, words in PERMISSION_WORDS.items()
        ],
        explained=explained,
        answer=answer(name, role, explained) if explained else None,
        way_on=way_on(explained) if explained else None,
    )


def _permission(text: str | None) -> Permission | None:
    """Raises `NotFound` for what is no permission."""
    if not text:
        return None
    if text not in set(Permission):
        raise NotFound
    return Permission(text)


def _id(text: str) -> UUID:
    """Raises `NotFound` for what is no id."""
    found = as_uuid(text)
    if found is None:
        raise NotFound
    return found
