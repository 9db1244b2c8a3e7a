"""Clients that a caller may see and manage."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from app.enums import Area
from app.errors import NotFound
from app.languages import gettext
from app.models import OAuthClient
from app.policy import Permission
from app.policy.caller import Caller
from app.services.paging import Page, SortOrder, keyset_page
from app.services.tenancy import fetch, of_tenant
from app.validation.texts import trim

_NEWEST = SortOrder(OAuthClient.created_at, descending=True)


def list_all(
    session: Session, caller: Caller, *, area: Area | None = None
) -> Sequence[OAuthClient]:
    """Return the clients that the caller may manage, oldest first, including revoked ones."""
    query = manageable(caller).order_by(OAuthClient.created_at, OAuthClient.id)
    if area is not None:
        query = query.where(OAuthClient.area == area)
    return session.scalars(query).all()


def search(
    session: Session,
    caller: Caller,
    *,
    query: str | None = None,
    in_use: bool | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[OAuthClient]:
    """Return a page of clients, newest first; ``query`` searches names and client ids, ``in_use``
    keeps only active ones, or only ended ones.

    Raises `Forbidden` and `ValidationFailed` (``invalid_cursor``).
    """
    rows = manageable(caller)
    search_text = trim(query)
    if search_text:
        in_id = OAuthClient.client_id.icontains(search_text, autoescape=True)
        rows = rows.where(OAuthClient.named(search_text) | in_id)
    if in_use is not None:
        rows = rows.where(~OAuthClient.is_over if in_use else OAuthClient.is_over)
    return keyset_page(session, rows, _NEWEST, cursor=cursor, limit=limit)


def get(
    session: Session, caller: Caller, client_id: UUID | str, *, for_change: bool = False
) -> OAuthClient:
    """Return one client, by its id or its public client id; ``for_change`` locks its row until the
    transaction ends. Raises `NotFound` (``client_not_found``)."""
    column = OAuthClient.id if isinstance(client_id, UUID) else OAuthClient.client_id
    missing = NotFound(gettext("There is no such client."), "client_not_found")
    query = manageable(caller).where(column == client_id)
    return fetch(session, query, missing, for_change=for_change)


def manageable(caller: Caller) -> Select[OAuthClient]:
    """Return the clients of the caller's partner; only the operator can change those of Area B, and
    the command line without a partner reaches every client."""
    caller.require(Permission.CREDENTIALS_MANAGE)
    query = select(OAuthClient)
    return of_tenant(query, caller, OAuthClient.partner_id, OAuthClient.organization_id)
