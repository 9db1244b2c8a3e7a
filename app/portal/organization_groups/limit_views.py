"""Limit an admin or an API client to groups of organizations."""

from collections.abc import Callable
from uuid import UUID

from flask import render_template, url_for
from sqlalchemy.orm import Session

from app.enums import Role
from app.errors import NotFound
from app.extensions import caller, transaction
from app.languages import gettext
from app.models import OAuthClient, User
from app.portal.organization_groups.forms import ALL, SOME, LimitForm
from app.portal.web.blueprint import Page, portal
from app.portal.web.forms import saving
from app.portal.web.messages import redirect_with
from app.services import oauth_clients, organization_groups, users

Load = Callable[[Session, bool], User | OAuthClient]


@portal.get("/users/<uuid:user_id>/groups")
def user_groups(user_id: UUID) -> str:
    return _page(_user(user_id), url_for("portal.user", user_id=user_id))


@portal.post("/users/<uuid:user_id>/groups")
def user_groups_save(user_id: UUID) -> Page:
    return _save(_user(user_id), url_for("portal.user", user_id=user_id))


@portal.get("/api-access/clients/<uuid:client_id>/groups")
def api_client_groups(client_id: UUID) -> str:
    return _page(_client(client_id), url_for("portal.api_client", client_id=client_id))


@portal.post("/api-access/clients/<uuid:client_id>/groups")
def api_client_groups_save(client_id: UUID) -> Page:
    return _save(_client(client_id), url_for("portal.api_client", client_id=client_id))


def _user(user_id: UUID) -> Load:
    return lambda session, for_change: users.get(session, caller(), user_id, for_change=for_change)


def _client(client_id: UUID) -> Load:
    return lambda session, _: oauth_clients.get(session, caller(), client_id)


def _save(load: Load, back: str) -> Page:
    form = LimitForm()
    with saving(form, lambda: _page(load, back, form), validate=False) as session:
        organization_groups.limit(session, caller(), load(session, True), form.chosen)
    return redirect_with(gettext("Access saved. It counts from the next request."), back)


def _page(load: Load, back: str, form: LimitForm | None = None) -> str:
    with transaction(read_only=True) as session:
        subject = load(session, False)
        if subject.role is not Role.ADMIN:
            raise NotFound
        listed = organization_groups.listing(session, caller())
        if form is None:
            chosen = [str(group.id) for group in organization_groups.groups_of(session, subject)]
            reach = SOME if subject.is_limited else ALL
            form = LimitForm.from_object(reach=reach, groups=chosen)
    form.offer(listed)
    name = subject.name or (subject.email if isinstance(subject, User) else "")
    return render_template(
        "portal/organization_groups/limit.html",
        form=form,
        name=name,
        back=back,
        has_groups=bool(listed),
    )
