"""Data of a page besides its own content: unread notifications, views of its list, plan names."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from sqlalchemy import Select, false, select
from sqlalchemy.orm import Session

from app.models import DispatchPause, Partner, SavedView
from app.policy.caller import Caller
from app.services import partners, pauses, saved_views
from app.services.audit import notified
from app.services.pricing import published_plans


@dataclass(frozen=True, slots=True)
class PageFrame:
    """``unread`` as `notified.count_unread`; ``views`` as `saved_views.of_list`, none without a
    list; ``pauses`` are those that operators see on every page, None if they weren't read."""

    unread: int
    views: Sequence[SavedView]
    pauses: Sequence[DispatchPause] | None = None


def load(
    session: Session, caller: Caller, list_name: str | None = None, *, with_plans: bool = True
) -> PageFrame:
    """Return the frame of a page for a user of a partner, with one query. ``with_plans`` reads the
    plans with it: `pricing.published` then needs no query in this transaction."""
    if caller.partner_id is None:
        return PageFrame(0, ())
    cacheable_caller = replace(
        caller, ip=None, request_id=None
    )  # the same for all requests of a user
    rows = session.execute(
        _frame_query(cacheable_caller, notified.kept_since(), list_name, with_plans)
    ).all()
    if with_plans:
        published_plans.remember_published(session, caller.partner_id, rows)
    views = dict.fromkeys(row.SavedView for row in rows if row.SavedView)
    return PageFrame(rows[0].unread if rows else 0, tuple(views))


def load_for_operator(session: Session, caller: Caller, partner_id: UUID) -> PageFrame:
    """Return the frame of an operator's page about a partner, with one query that also reads the
    partner and its plans: `partners.get` and `pricing.published` then need none in this
    transaction."""
    query = (
        select(Partner)
        .add_columns(DispatchPause)
        .select_from(Partner)
        .outerjoin(DispatchPause, DispatchPause.organization_id.is_(None))
        .where(Partner.id == partner_id)
        .order_by(*pauses.WIDEST_FIRST)
    )
    rows = session.execute(published_plans.with_published(query)).all()
    if not rows:
        return PageFrame(0, ())
    partners.remember_read(session, caller, rows[0].Partner)
    published_plans.remember_published(session, partner_id, rows)
    active_pauses = dict.fromkeys(row.DispatchPause for row in rows if row.DispatchPause)
    return PageFrame(0, (), tuple(active_pauses))


@lru_cache(200)
def _frame_query(
    caller: Caller, since: datetime, list_name: str | None, with_plans: bool
) -> Select[Any]:
    """Return the statement: a row for each view of the list, again for each price if the plans have
    no version, with the number of notifications in each. Cached, because every page uses it and
    building it takes longer than running it."""
    unread = notified.counting_unread(caller, since).scalar_subquery().label("unread")
    is_offered = saved_views.is_offered(caller, list_name) if list_name else false()
    rows = (
        select(unread, SavedView)
        .select_from(Partner)
        .outerjoin(SavedView, is_offered)
        .where(Partner.id == caller.partner_id)
        .order_by(SavedView.name, SavedView.id)
    )
    return published_plans.with_published(rows) if with_plans else rows
