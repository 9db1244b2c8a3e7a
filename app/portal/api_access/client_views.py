"""API access: the clients of the token endpoint, with a role each."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from flask import redirect, render_template, request, url_for
from sqlalchemy.orm import Session

from app.enums import Area
from app.errors import NotFound
from app.extensions import api_urls, caller, settings, transaction
from app.languages import gettext, ngettext
from app.models import OAuthClient, utcnow
from app.portal.api_access import blueprint, curl_examples
from app.portal.api_access.credential_pages import (
    ALREADY_SHOWN,
    IN_USE,
    STATUSES,
    Crumbs,
    last_requests,
    rotate_page,
)
from app.portal.api_access.forms import ROLE_HINTS, ClientForm, RotateForm
from app.portal.api_access.labels import ago, client_status, end_of, kind_of_client, last_use
from app.portal.web import lists
from app.portal.web.blueprint import Page
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.editing import FormSubmission
from app.portal.web.formats import long_datetime
from app.portal.web.forms import saving
from app.portal.web.messages import redirect_with
from app.portal.web.user_timezone import zone
from app.services import oauth_clients, organizations, users
from app.services.legacy.calls import served_until


@blueprint.get("/api-access/clients")
def list_clients() -> str:
    position, in_use = lists.current_position(), IN_USE.get(request.args.get("state", ""))
    with transaction(read_only=True) as session:
        query = lists.text_filter("q")
        page = oauth_clients.search(
            session, caller(), query=query, in_use=in_use, **position.query_args
        )
        rows = _list_rows(session, page.items)
    pager = position.pager(page.next_cursor, "q", "state")
    return render_template("portal/api_access/clients.html", rows=rows, statuses=STATUSES, **pager)


@blueprint.get("/api-access/clients/new")
def new_client() -> str:
    return _form_page(ClientForm())


@blueprint.post("/api-access/clients/new")
def create_client() -> Page:
    """Show the client's page, with the secret this once: no URL holds it."""
    form = ClientForm()
    with saving(form, lambda: _form_page(form)) as session:
        submission = FormSubmission(session, notice=str(ALREADY_SHOWN))
        new = oauth_clients.create(session, caller(), **form.to_fields())
        submission.finish(url_for("portal.api_access.show_client", client_id=new.client.id))
    success_title = gettext("“%(name)s” was created", name=new.client.name)
    return _client_page(new.client.id, new.secret, success_title)


@blueprint.get("/api-access/clients/<uuid:client_id>")
def show_client(client_id: UUID) -> str:
    return _client_page(client_id)


@blueprint.get("/api-access/clients/<uuid:client_id>/rotate")
def confirm_rotate_client_secret(client_id: UUID) -> str:
    return _rotate_page(client_id, RotateForm())


@blueprint.post("/api-access/clients/<uuid:client_id>/rotate")
def rotate_client_secret(client_id: UUID) -> Page:
    form = RotateForm()
    _get_changeable(client_id)
    with saving(form, lambda: _rotate_page(client_id, form)) as session:
        submission = FormSubmission(session, notice=str(ALREADY_SHOWN))
        new = oauth_clients.rotate(session, caller(), client_id, **form.to_period())
        submission.finish(url_for("portal.api_access.show_client", client_id=new.client.id))
    success_title = gettext("“%(name)s” has a new secret", name=new.client.name)
    return _client_page(client_id, new.secret, success_title)


@blueprint.get("/api-access/clients/<uuid:client_id>/suspend")
def confirm_suspend_client(client_id: UUID) -> str:
    return _suspend_confirmation(_get_changeable(client_id)).page()


@blueprint.post("/api-access/clients/<uuid:client_id>/suspend")
def suspend_client(client_id: UUID) -> Page:
    with transaction() as session:
        client = oauth_clients.suspend(session, caller(), client_id)
    message = gettext("“%(name)s” is suspended. Its tokens no longer work.", name=client.name)
    return redirect_with(message, url_for("portal.api_access.show_client", client_id=client_id))


@blueprint.post("/api-access/clients/<uuid:client_id>/resume")
def resume_client(client_id: UUID) -> Page:
    with transaction() as session:
        client = oauth_clients.resume(session, caller(), client_id)
    message = gettext("“%(name)s” works again.", name=client.name)
    return redirect_with(message, url_for("portal.api_access.show_client", client_id=client_id))


@blueprint.get("/api-access/clients/<uuid:client_id>/revoke")
def confirm_revoke_client(client_id: UUID) -> Page:
    client = _get_changeable(client_id)
    if client.revoked_at is not None:
        return redirect(url_for("portal.api_access.show_client", client_id=client_id), 303)
    return _revoke_confirmation(client).page()


@blueprint.post("/api-access/clients/<uuid:client_id>/revoke")
def revoke_client(client_id: UUID) -> Page:
    with transaction() as session:
        client = oauth_clients.revoke(session, caller(), client_id)
    message = gettext("“%(name)s” was revoked. It no longer works.", name=client.name)
    return redirect_with(message, url_for("portal.api_access.show_client", client_id=client_id))


def _list_rows(session: Session, clients: Sequence[OAuthClient]) -> list[dict[str, Any]]:
    ids = {each.organization_id for each in clients if each.organization_id}
    owners, days_in = organizations.by_ids(session, caller(), ids), zone()
    return [
        {
            "client": client,
            "kind": kind_of_client(client),
            "organization": owner.name if owner else None,
            "status": client_status(client, owner.status if owner else None),
            "end": end_of(client, days_in, served_until(client, settings())),
            "used": ago(client.last_used_at, days_in),
        }
        for client in clients
        for owner in [owners.get(client.organization_id) if client.organization_id else None]
    ]


def _get_changeable(client_id: UUID) -> OAuthClient:
    """Return a client that the partner manages. Raises `NotFound`."""
    with transaction(read_only=True) as session:
        client = oauth_clients.get(session, caller(), client_id)
    if client.area is not Area.PARTNER_ADMIN:
        raise NotFound
    return client


def _form_page(form: ClientForm) -> str:
    return render_template("portal/api_access/client_new.html", form=form, role_hints=ROLE_HINTS)


def _rotate_page(client_id: UUID, form: RotateForm) -> str:
    client = _get_changeable(client_id)
    return rotate_page(
        form,
        gettext("Rotate the secret of “%(name)s”", name=client.name),
        gettext(
            "The client keeps its ID and permissions and gets a new secret. Give your scripts time "
            "to switch if needed."
        ),
        gettext("Rotate secret"),
        [
            *_parent_crumbs(),
            (client.name, url_for("portal.api_access.show_client", client_id=client.id)),
        ],
    )


def _client_page(client_id: UUID, secret: str | None = None, success_title: str = "") -> str:
    with transaction(read_only=True) as session:
        client = oauth_clients.get(session, caller(), client_id)
        requests = last_requests(session, client.id)
        organization = (
            organizations.get(session, caller(), client.organization_id)
            if client.organization_id
            else None
        )
        names = users.names_by_email(session, caller(), [client.created_by])
    days_in = zone()
    can_change = client.area is Area.PARTNER_ADMIN and not client.is_over
    lines = curl_examples.for_client(client, api_urls()) if can_change else None
    return render_template(
        "portal/api_access/client.html",
        client=client,
        secret=secret,
        done=success_title,
        crumbs=[*_parent_crumbs(), (client.name, None)],
        status=client_status(client, organization.status if organization else None),
        end=end_of(client, days_in, served_until(client, settings())),
        kind=kind_of_client(client),
        organization=organization,
        names=names,
        lines=lines,
        try_code=curl_examples.in_shell(lines, curl_examples.SECRET_VARIABLE),
        can_change=can_change,
        old_until=client.previous_until
        if client.previous_until and client.previous_until > utcnow()
        else None,
        **requests,
        suspending=_suspend_confirmation(client),
        revoking=_revoke_confirmation(client),
    )


def _suspend_confirmation(client: OAuthClient) -> ConfirmationPage:
    return ConfirmationPage(
        action=url_for("portal.api_access.suspend_client", client_id=client.id),
        title=gettext("Suspend “%(name)s”?", name=client.name),
        consequences=[
            last_use(client, long_datetime(client.last_used_at, zone())),
            gettext(
                "Its tokens stop working too. It can be resumed at any time, with the same secret."
            ),
        ],
        action_label=gettext("Suspend client"),
        keep_label=gettext("Keep active"),
        keep_url=url_for("portal.api_access.show_client", client_id=client.id),
    )


def _revoke_confirmation(client: OAuthClient) -> ConfirmationPage:
    minutes = settings().token_seconds // 60
    return ConfirmationPage(
        action=url_for("portal.api_access.revoke_client", client_id=client.id),
        title=gettext("Revoke “%(name)s”?", name=client.name),
        consequences=[
            last_use(client, long_datetime(client.last_used_at, zone())),
            ngettext(
                "Its tokens, valid for up to %(num)s minute, stop working too.",
                "Its tokens, valid for up to %(num)s minutes, stop working too.",
                minutes,
            ),
            gettext("This can’t be undone. You can create a new client at any time."),
        ],
        action_label=gettext("Revoke client"),
        keep_label=gettext("Keep client"),
        keep_url=url_for("portal.api_access.show_client", client_id=client.id),
    )


def _parent_crumbs() -> Crumbs:
    return [
        (gettext("API access"), url_for("portal.api_access.list_keys")),
        (gettext("Clients"), url_for("portal.api_access.list_clients")),
    ]
