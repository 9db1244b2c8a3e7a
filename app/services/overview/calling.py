"""Items about calls that need a decision: those that wait, fail, or have no answer."""

from collections.abc import Mapping

from sqlalchemy import ColumnElement, Select, case, func, select
from sqlalchemy.orm import Session

from app.enums import CallStatus
from app.errors import translate_stored
from app.languages import gettext, ngettext
from app.models import Call, utcnow
from app.models.base import id_at
from app.policy.caller import Caller
from app.services import organizations, pauses, workers
from app.services.calls import queries
from app.services.calls.queries import LAST_DAY
from app.services.calls.queries import visible as visible_calls
from app.services.outreach import blocked_campaigns
from app.services.overview.items import (
    EACH,
    MAX_COUNTED,
    RECENT,
    ActionItem,
    ActionItemKind,
    at_most,
)
from app.services.pauses import carrier_health

_SHOWN_ORDER = (CallStatus.NO_ANSWER, CallStatus.BUSY, CallStatus.FAILED, CallStatus.EXPIRED)
"""The order in which calls without an answer are counted."""
_WAITING = (CallStatus.QUEUED, CallStatus.DIALING)


def counts(
    session: Session, caller: Caller, worker_silent_after: float
) -> dict[str, ColumnElement[int]]:
    """Return the numbers that `offline` and `unanswered_calls` need, up to `MAX_COUNTED` each, by
    name: those of calls without an answer by their status."""
    is_online = workers.is_any_alive(session, worker_silent_after)
    waiting = visible_calls(caller).where(Call.status.in_(_WAITING))
    recent = visible_calls(caller).where(Call.id >= id_at(utcnow() - LAST_DAY))
    return {
        "waiting_calls": case((is_online, 0), else_=_count_query(waiting)),
        **{status: _count_query(recent.where(Call.status == status)) for status in _SHOWN_ORDER},
    }


def _count_query(calls: Select[Call]) -> ColumnElement[int]:
    limited = calls.with_only_columns(Call.id).limit(MAX_COUNTED).subquery()
    return select(func.count()).select_from(limited).scalar_subquery()


def offline(counted: Mapping[str, int]) -> list[ActionItem]:
    """Return calls that wait while no worker is online."""
    waiting = counted["waiting_calls"]
    title = gettext("Calling service is offline")
    return (
        [ActionItem(ActionItemKind.LINE, title, _waiting_message(waiting), urgent=True)]
        if waiting
        else []
    )


def held_calls(session: Session, caller: Caller) -> list[ActionItem]:
    """Return what holds calls back: pauses of calling, and a carrier with problems."""
    active_pauses = pauses.visible_pauses(session, caller)
    carriers = [each for each in carrier_health.with_problems(session) if each.status.holds_calls]
    if not active_pauses and not carriers:
        return []
    waiting = _waiting_message(queries.waiting_calls(session, caller))
    items = [
        ActionItem(
            ActionItemKind.PAUSED,
            gettext("Calling is paused: %(reason)s", reason=translate_stored(pause.reason)),
            waiting,
            urgent=True,
        )
        for pause in active_pauses[:1]
    ]
    if carriers:
        title = gettext("The carrier isn’t accepting calls")
        items.append(ActionItem(ActionItemKind.LINE, title, waiting, urgent=True))
    return items


def paused_organizations(session: Session, caller: Caller) -> list[ActionItem]:
    """Return organizations whose calling is paused."""
    paused = pauses.of_organizations(session, caller)[: EACH + 1]
    ids = [pause.organization_id for pause in paused if pause.organization_id is not None]
    names = organizations.names_of(session, caller, ids) if ids else {}
    return [
        ActionItem(
            ActionItemKind.ORGANIZATION_PAUSED,
            gettext("Calling is paused for %(name)s", name=names.get(pause.organization_id, "")),
            translate_stored(pause.reason),
            pause.organization_id,
            urgent=True,
        )
        for pause in paused
        if pause.organization_id is not None
    ]


def unknown_calls(session: Session, caller: Caller) -> list[ActionItem]:
    rows = _unknown_calls(caller).order_by(Call.id.desc()).limit(MAX_COUNTED)
    calls = session.scalars(rows).all()
    if not calls:
        return []
    title = ngettext(
        "%(num)s call with unknown outcome",
        "%(num)s calls with unknown outcome",
        len(calls),
        num=at_most(len(calls)),
    )
    if len(calls) == 1:
        text = gettext("The carrier could not say whether it was placed.")
        return [ActionItem(ActionItemKind.CALL, title, text, calls[0].id, urgent=True)]
    text = gettext("The carrier could not say whether they were placed.")
    return [ActionItem(ActionItemKind.CALLS_UNKNOWN, title, text, urgent=True)]


def _waiting_message(calls: int) -> str:
    if not calls:
        return gettext("No calls are waiting.")
    return ngettext(
        "%(num)s call waits; nothing is lost.",
        "%(num)s calls wait; nothing is lost.",
        calls,
        num=at_most(calls),
    )


def campaigns(session: Session, caller: Caller) -> list[ActionItem]:
    """Return campaigns that run but can call no contact."""
    return [
        ActionItem(
            ActionItemKind.CAMPAIGN,
            gettext("%(name)s isn’t calling", name=campaign.name),
            translate_stored(reason),
            campaign.id,
            urgent=True,
        )
        for campaign, reason in blocked_campaigns(session, caller, EACH + 1)
    ]


def unanswered_calls(by_status: Mapping[str, int]) -> list[ActionItem]:
    """Return the calls of the last day without an answer."""
    total = sum(by_status[status] for status in _SHOWN_ORDER)
    if not total:
        return []
    title = ngettext(
        "%(num)s call without an answer in 24 hours",
        "%(num)s calls without an answer in 24 hours",
        total,
        num=at_most(total),
    )
    text = ", ".join(
        _unanswered_label(status, by_status[status]) for status in _SHOWN_ORDER if by_status[status]
    )
    return [ActionItem(ActionItemKind.CALLS_UNANSWERED, title, text if total < MAX_COUNTED else "")]


def any_held(caller: Caller) -> ColumnElement[bool]:
    """Return whether `held_calls` can find anything."""
    return pauses.any_seen(caller) | carrier_health.any_not_well()


def any_unknown(caller: Caller) -> ColumnElement[bool]:
    """Return whether `unknown_calls` finds any."""
    return _unknown_calls(caller).exists()


def _unknown_calls(caller: Caller) -> Select[Call]:
    recent = Call.id >= id_at(utcnow() - RECENT)
    return visible_calls(caller).where(Call.status == CallStatus.UNKNOWN, recent)


def _unanswered_label(status: CallStatus, count: int) -> str:
    match status:
        case CallStatus.NO_ANSWER:
            return ngettext("%(num)s not picked up", "%(num)s not picked up", count)
        case CallStatus.BUSY:
            return ngettext("%(num)s busy", "%(num)s busy", count)
        case CallStatus.FAILED:
            return ngettext("%(num)s failed", "%(num)s failed", count)
        case _:
            return ngettext("%(num)s not placed in time", "%(num)s not placed in time", count)
