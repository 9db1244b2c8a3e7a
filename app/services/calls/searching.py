"""The portal's list of calls, with its filters and orders."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, Select, func, or_, select, union_all
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallSource, CallStatus, EndedReason
from app.models import (
    Assistant,
    Call,
    CallAttempt,
    Campaign,
    Conversation,
    Organization,
    Outreach,
    OutreachContact,
)
from app.models.base import id_at
from app.policy import Permission
from app.policy.caller import Caller
from app.services import name_search
from app.services.calls.queries import MAX_COUNTED, visible
from app.services.number_search import numbers_in_regions
from app.services.paging import (
    Page,
    both_ways,
    count_among,
    count_up_to,
    keyset_page,
    sort_named,
)
from app.services.tenancy import of_tenant

SLACK = timedelta(days=1)
"""The maximum difference between the time in a call's id and the stored time."""
SORTS = both_ways(
    created=Call.id,
    number=Call.phone_number,
    duration=Call.seconds,
    cost=Call.cost_micros,
    status=Call.status,
    outcome=Call.ended_reason,
)
"""The sort orders of `search`; ids begin with the time. Costs are compared as amounts, whatever
their currencies. That of the status has an index for all calls of a partner only."""


@dataclass(frozen=True, slots=True)
class CallSearch:
    """The filters of the portal's call list. ``organization``, ``assistant`` and ``campaign`` are
    an id or a part of a name, ``number`` may have any format. ``current_round`` keeps only those
    that count as progress of their campaign. ``since`` and ``before`` limit when the call was
    accepted, or with ``counted`` when the conversation began: the calls that usage counts; or with
    ``billed`` when the attempt began: the calls that statements count."""

    states: frozenset[CallStatus] = field(default_factory=frozenset)
    answered_by: AnsweredBy | None = None
    ended_reason: EndedReason | None = None
    organization: UUID | str | None = None
    assistant: UUID | str | None = None
    campaign: UUID | str | None = None
    current_round: bool = False
    number: str | None = None
    since: datetime | None = None
    before: datetime | None = None
    live: bool | None = None
    counted: bool = False
    billed: bool = False


def search(
    session: Session,
    caller: Caller,
    chosen: CallSearch,
    *,
    sort: str = "-created",
    cursor: str | None = None,
    limit: int = 50,
) -> Page[Call]:
    """Return a page of the calls that match, in one query.

    Raises `ValidationFailed` (``unknown_sort``, ``invalid_cursor``).
    """
    rows = matching(session, caller, chosen)
    return keyset_page(session, rows, sort_named(sort, SORTS), cursor=cursor, limit=limit)


def get_many(session: Session, caller: Caller, ids: Collection[UUID]) -> Sequence[Call]:
    """Return those of the calls that the caller may see, newest first. Raises `Forbidden`."""
    caller.require(Permission.CALLS_READ)
    rows = visible(caller).where(Call.id.in_(ids))
    return session.scalars(rows.order_by(Call.id.desc())).all()


def names_of(session: Session, calls: Sequence[Call]) -> dict[UUID, str]:
    """Return the names of the assistants, organizations and campaigns of calls that came from their
    loader, by id: one query."""
    if not calls:
        return {}
    wanted = (
        (Assistant, {call.assistant_id for call in calls}),
        (Organization, {call.organization_id for call in calls}),
        (Campaign, {call.campaign_id for call in calls if call.campaign_id}),
    )
    queries = (
        select(model.id, model.name).where(model.id.in_(ids)) for model, ids in wanted if ids
    )
    return {row.id: row.name for row in session.execute(union_all(*queries))}


def count(session: Session, caller: Caller, chosen: CallSearch, *, most: int = MAX_COUNTED) -> int:
    """Return how many calls match, as `paging.count_up_to`."""
    rows = matching(session, caller, chosen).with_only_columns(Call.id)
    return count_up_to(session, rows, most)


def count_if_few(session: Session, caller: Caller, chosen: CallSearch, most: int) -> int | None:
    """Return how many calls match, as `paging.count_among`, narrowed by the filters with an index:
    the statuses, the number, the days, and an organization or campaign by its id."""
    rows = matching(session, caller, chosen).with_only_columns(Call.id)
    among = _narrowed(chosen)
    if among == chosen:
        return count_up_to(session, rows, most)
    few = matching(session, caller, among).with_only_columns(Call.id)
    return count_among(session, rows, few, most)


def _narrowed(chosen: CallSearch) -> CallSearch:
    """Return the filters for which there is an index; conversations have one by day only for a
    single organization."""
    has_days = not chosen.billed and (not chosen.counted or isinstance(chosen.organization, UUID))
    return replace(
        chosen,
        answered_by=None,
        ended_reason=None,
        organization=_by_id(chosen.organization),
        assistant=None,
        campaign=_by_id(chosen.campaign),
        current_round=False,
        live=None,
        since=chosen.since if has_days else None,
        before=chosen.before if has_days else None,
        counted=chosen.counted and has_days,
        billed=False,
    )


def _by_id(wanted: UUID | str | None) -> UUID | None:
    return wanted if isinstance(wanted, UUID) else None


def matching(session: Session, caller: Caller, chosen: CallSearch) -> Select[Call]:
    """Return the calls that match. Raises `Forbidden`."""
    caller.require(Permission.CALLS_READ)
    rows = visible(caller).where(*_conditions(session, caller, chosen))
    if chosen.counted:
        rows = rows.join(Conversation, Conversation.call_id == Call.id)
    return rows


def without_calls(session: Session, caller: Caller, chosen: CallSearch) -> int:
    """How many conversations of these days and this organization have no call record; 0 if a
    filter applies to call records only."""
    caller.require(Permission.CALLS_READ)
    of_calls = (
        *(chosen.states, chosen.answered_by, chosen.ended_reason, chosen.assistant),
        *(chosen.campaign, chosen.current_round, chosen.number),
    )
    asks_calls = any(of_calls) or chosen.live is not None or isinstance(chosen.organization, str)
    if asks_calls or not chosen.counted:
        return 0
    rows = select(func.count()).select_from(Conversation).where(Conversation.call_id.is_(None))
    rows = of_tenant(rows, caller, Conversation.partner_id, Conversation.organization_id)
    if chosen.organization is not None:
        rows = rows.where(Conversation.organization_id == chosen.organization)
    if chosen.since is not None:
        rows = rows.where(Conversation.started_at >= chosen.since)
    if chosen.before is not None:
        rows = rows.where(Conversation.started_at < chosen.before)
    return session.scalar(rows) or 0


def has_imported(session: Session, caller: Caller) -> bool:
    """Return whether conversations without a call record were imported."""
    caller.require(Permission.CALLS_READ)
    rows = select(Conversation.id).where(Conversation.call_id.is_(None))
    rows = of_tenant(rows, caller, Conversation.partner_id, Conversation.organization_id)
    return session.scalar(rows.limit(1)) is not None


def of_number(session: Session, caller: Caller, text: str) -> ColumnElement[bool] | None:
    """Return the condition that a call's number is, or begins with, the number in ``text``; None if
    the text is not a number."""
    digits = "".join(c for c in text if c.isascii() and c.isdigit())
    if len(digits) < 3 or any(c.isalpha() for c in text):
        return None
    international = text.strip().startswith(("+", "00"))
    start = "+" + (digits.removeprefix("00") if international else digits)
    exact = set() if international else numbers_in_regions(session, caller, text)
    begins = Call.phone_number >= start
    end = _behind(start)
    within = begins & (Call.phone_number < end) if end else begins
    return or_(Call.phone_number.in_(exact), within) if exact else within


def _behind(start: str) -> str | None:
    """Return the first text that sorts after every number with these first digits."""
    kept = start.rstrip("9")
    return kept[:-1] + str(int(kept[-1]) + 1) if kept != "+" else None


def _conditions(session: Session, caller: Caller, chosen: CallSearch) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if chosen.states:
        conditions.append(Call.status.in_(chosen.states))
    if chosen.answered_by is not None:
        conditions.append(Call.answered_by == chosen.answered_by)
    if chosen.ended_reason is not None:
        conditions.append(Call.ended_reason == chosen.ended_reason)
    conditions += _of_parties(session, caller, chosen)
    if chosen.number is not None:
        condition = of_number(session, caller, chosen.number)
        conditions.append(Call.id.is_(None) if condition is None else condition)
    if chosen.live is not None:
        conditions.append(Call.live.is_(chosen.live))
    if chosen.billed:
        return [*conditions, *_billed_within(chosen.since, chosen.before)]
    within = counted_within if chosen.counted else accepted_within
    return conditions + within(chosen.since, chosen.before)


def accepted_within(since: datetime | None, before: datetime | None) -> list[ColumnElement[bool]]:
    """Return the conditions for calls that were accepted from a time on and before another; the ids
    narrow them to a part of the index."""
    conditions: list[ColumnElement[bool]] = []
    if since is not None:
        conditions += [Call.created_at >= since, Call.id >= id_at(since - SLACK)]
    if before is not None:
        conditions += [Call.created_at < before, Call.id < id_at(before + SLACK)]
    return conditions


def counted_within(since: datetime | None, before: datetime | None) -> list[ColumnElement[bool]]:
    """Return the same of calls whose `Conversation`, which the query joins, began in this time."""
    conditions: list[ColumnElement[bool]] = []
    if since is not None:
        conditions.append(Conversation.started_at >= since)
    if before is not None:
        conditions += [Conversation.started_at < before, Call.id < id_at(before + SLACK)]
    return conditions


def _billed_within(since: datetime | None, before: datetime | None) -> list[ColumnElement[bool]]:
    """Return the conditions for calls with an attempt that began in this time and is billed; it was
    accepted before."""
    conditions = [CallAttempt.call_id == Call.id, CallAttempt.billed_minutes > 0]
    if since is not None:
        conditions.append(CallAttempt.started_at >= since)
    if before is not None:
        conditions.append(CallAttempt.started_at < before)
    has_attempt = select(CallAttempt.id).where(*conditions).correlate(Call).exists()
    return [has_attempt] if before is None else [has_attempt, Call.id < id_at(before + SLACK)]


def _of_parties(session: Session, caller: Caller, chosen: CallSearch) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if chosen.organization is not None:
        of = Call.organization_id
        conditions.append(name_search.is_of_organization(session, of, chosen.organization))
    if chosen.assistant is not None:
        conditions.append(_by_assistant(chosen.assistant))
    if chosen.campaign is not None:
        conditions.append(_of_campaign(caller, chosen.campaign))
    if chosen.current_round:
        conditions.append(_in_current_round())
    return conditions


def _by_assistant(wanted: UUID | str) -> ColumnElement[bool]:
    if isinstance(wanted, UUID):
        return Call.assistant_id == wanted
    return Call.assistant_id.in_(select(Assistant.id).where(Assistant.named(wanted)))


def _of_campaign(caller: Caller, wanted: UUID | str) -> ColumnElement[bool]:
    if isinstance(wanted, UUID):
        return Call.campaign_id == wanted
    named = select(Campaign.id).where(Campaign.named(wanted))
    return Call.campaign_id.in_(
        of_tenant(named, caller, Campaign.partner_id, Campaign.organization_id)
    )


def _in_current_round() -> ColumnElement[bool]:
    row = OutreachContact
    is_current = (Outreach.campaign_id == row.campaign_id) & (Outreach.round == row.round)
    known = select(row.call_id).join(Outreach, is_current).where(row.call_id == Call.id)
    removed = select(Outreach.campaign_id).where(
        Outreach.campaign_id == Call.campaign_id, *of_removed_contact()
    )
    return known.exists() | removed.exists()


def of_removed_contact() -> list[ColumnElement[bool]]:
    """Return the condition for calls of the current round of `Outreach` to contacts that have left
    the campaign since."""
    return [
        Call.contact_id.is_(None),
        Call.source == CallSource.CAMPAIGN,
        Call.live.is_(True),
        Call.created_at >= Outreach.started_at,
        Call.started_at.is_not(None),
    ]
