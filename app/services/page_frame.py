"""What a page needs beside its own content: unread notifications, views of its list, plan names."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from app.models import Partner, SavedView
from app.policy.caller import Caller
from app.services import saved_views
from app.services.audit import notified
from app.services.pricing import reading


@dataclass(frozen=True, slots=True)
class PageFrame:
    """``unread`` as `notified.count_unread`; ``views`` as `saved_views.of_list`, none without a
    list."""

    unread: int
    views: Sequence[SavedView]


def load(
    session: Session, caller: Caller, list_name: str | None = None, *, with_plans: bool = True
) -> PageFrame:
    """Return the frame of a page for a user of a partner: one query, which also reads what
    `pricing.published` returns in this transaction if ``with_plans``."""
    if caller.partner_id is None:
        return PageFrame(0, ())
    asked = _asking(
        replace(caller, ip=None, request_id=None), notified.kept_since(), list_name, with_plans
    )
    rows = session.execute(asked).all()
    if with_plans:
        reading.keep_published(session, caller.partner_id, rows)
    views = {row.SavedView.id: row.SavedView for row in rows if list_name and row.SavedView}
    return PageFrame(rows[0].unread if rows else 0, tuple(views.values()))


@lru_cache(200)
def _asking(
    caller: Caller, since: datetime, list_name: str | None, with_plans: bool
) -> Select[Any]:
    """Many pages ask: making the statement takes longer than running it."""
    unread = notified.counting_unread(caller, since).scalar_subquery().label("unread")
    rows: Select[Any] = select(unread).select_from(Partner).where(Partner.id == caller.partner_id)
    if with_plans:
        rows = reading.with_published(rows)
    if list_name is None:
        return rows
    is_offered = saved_views.is_offered(caller, list_name)
    if with_plans:  # once, and not beside each price
        is_offered &= reading.is_first_price()
    joined = rows.add_columns(SavedView).outerjoin(SavedView, is_offered)
    return joined.order_by(SavedView.name, SavedView.id)
