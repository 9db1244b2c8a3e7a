"""Saved views of lists: a user's own, and those shared by others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, or_, select, true, update
from sqlalchemy.orm import Session

from app.errors import NotFound, ValidationFailed, check_version
from app.languages import gettext, ngettext
from app.models import SavedView
from app.policy.caller import Caller
from app.services import audit
from app.services.tenancy import fetch, lock_own_user
from app.validation.texts import trim

MAX_VIEWS = 50
"""Maximum views of one user for one list."""
MAX_QUERY_LENGTH = 2000


@dataclass(frozen=True, slots=True)
class ViewInput:
    """A user's input for a saved view."""

    name: str
    is_shared: bool = False
    is_default: bool = False


def of_list(session: Session, caller: Caller, list_name: str) -> Sequence[SavedView]:
    """Return the caller's views of the list and those shared with the caller, by name."""
    query = select(SavedView).where(is_offered(caller, list_name))
    return session.scalars(query.order_by(SavedView.name, SavedView.id)).all()


def is_offered(caller: Caller, list_name: str) -> ColumnElement[bool]:
    """Return the condition that `of_list` returns a view."""
    is_own_or_shared = or_(SavedView.user_id == caller.user_id, SavedView.is_shared)
    return and_(_is_visible(caller), SavedView.list_name == list_name, is_own_or_shared)


def get(session: Session, caller: Caller, view_id: UUID, *, for_change: bool = False) -> SavedView:
    """Return the caller's own view. Raises `NotFound`, also for a view of someone else."""
    missing = NotFound(gettext("There is no such saved view."), "saved_view_not_found")
    is_own = and_(SavedView.id == view_id, SavedView.user_id == caller.user_id)
    query = select(SavedView).where(_is_visible(caller), is_own)
    return fetch(session, query, missing, for_change=for_change)


def create(
    session: Session, caller: Caller, list_name: str, query: str, data: ViewInput
) -> SavedView:
    """Save a view of the list. Raises `NotFound` for an operator, who has no saved views, and
    `ValidationFailed` (``required``, ``too_long``, ``too_many``)."""
    if caller.partner_id is None or caller.user_id is None:
        raise NotFound
    lock_own_user(session, caller)
    own_views = [
        view for view in of_list(session, caller, list_name) if view.user_id == caller.user_id
    ]
    if len(own_views) >= MAX_VIEWS:
        message = ngettext(
            "You have %(num)s view of this list. Delete one before you save another.",
            "You have %(num)s views of this list. Delete one before you save another.",
            MAX_VIEWS,
        )
        raise ValidationFailed.on("name", "too_many", message)
    view = SavedView(
        partner_id=caller.partner_id,
        organization_id=caller.organization_id,
        user_id=caller.user_id,
        list_name=list_name,
        query=_check_query(query),
    )
    _set_values(session, caller, view, data)
    session.add(view)
    session.flush()
    audit.record_change(session, caller, "saved_view.created", view, after=_audit_values(view))
    return view


def change(
    session: Session,
    caller: Caller,
    view_id: UUID,
    data: ViewInput | None = None,
    *,
    query: str | None = None,
    expected_version: int | None = None,
) -> SavedView:
    """Change the values given in ``data`` and ``query``. Raises `NotFound`, `ValidationFailed`
    (``required``, ``too_long``) and `Conflict` (``changed_meanwhile``)."""
    lock_own_user(session, caller)
    view = get(session, caller, view_id, for_change=True)
    check_version(expected_version, view.version, "saved view")
    before = _audit_values(view)
    if data is not None:
        _set_values(session, caller, view, data)
    if query is not None:
        view.query = _check_query(query)
    after = _audit_values(view)
    if after != before:
        audit.record_version(
            session, caller, "saved_view.updated", view, before=before, after=after
        )
    return view


def delete(session: Session, caller: Caller, view_id: UUID) -> SavedView:
    """Delete the view, also for the users that it is shared with. Raises `NotFound`."""
    view = get(session, caller, view_id, for_change=True)
    audit.record_change(session, caller, "saved_view.deleted", view, before=_audit_values(view))
    session.delete(view)
    return view


def _is_visible(caller: Caller) -> ColumnElement[bool]:
    """Return the condition that a view belongs to the partner's staff, or to the members of an
    organization; a limited caller sees only their own, because filters and names of others may
    reveal organizations. An operator belongs to no partner and sees none."""
    of_partner = SavedView.partner_id == caller.partner_id
    is_own = SavedView.user_id == caller.user_id if caller.is_limited else true()
    return and_(of_partner, is_own, SavedView.organization_id == caller.organization_id)


def _set_values(session: Session, caller: Caller, view: SavedView, data: ViewInput) -> None:
    name = trim(data.name)
    if not name:
        raise ValidationFailed.on("name", "required", gettext("Enter a name."))
    if len(name) > 100:
        raise ValidationFailed.on("name", "too_long", gettext("Use at most 100 characters."))
    if data.is_default and not view.is_default:
        reset_defaults = update(SavedView).where(
            SavedView.user_id == caller.user_id, SavedView.list_name == view.list_name
        )
        session.execute(reset_defaults.values(is_default=False))
    view.name, view.is_shared, view.is_default = name, data.is_shared, data.is_default


def _check_query(query: str) -> str:
    if len(query) > MAX_QUERY_LENGTH:
        message = gettext("These filters are too long to save. Shorten a search.")
        raise ValidationFailed.on("name", "too_long", message)
    return query


def _audit_values(view: SavedView) -> dict[str, Any]:
    return {
        "list": view.list_name,
        "name": view.name,
        "filters": view.query,
        "shared": view.is_shared,
        "default": view.is_default,
    }
