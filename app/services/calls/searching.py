"""The portal's list of calls, with its filters and orders."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, Select, false, func, or_, select, union_all
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallSource, CallStatus, EndedReason, OrganizationStatus
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
    filters: CallSearch,
    *,
    sort: str = "-created",
    cursor: str | None = None,
    limit: int = 50,
) -> Page[Call]:
    """Return a page of the calls that match, in one query.

    Raises `ValidationFailed` (``unknown_sort``, ``invalid_cursor``).
    """
    rows = matching(session, caller, filters)
    return keyset_page(session, rows, sort_named(sort, SORTS), cursor=cursor, limit=limit)


def get_many(session: Session, caller: Caller, ids: Collection[UUID]) -> Sequence[Call]:
    """Return those of the calls that the caller may see, newest first. Raises `Forbidden`."""
    caller.require(Permission.CALLS_READ)
    rows = visible(caller).where(Call.id.in_(ids))
    return session.scalars(rows.order_by(Call.id.desc())).all()


def names_and_suspended(
    session: Session, calls: Sequence[Call]
) -> tuple[dict[UUID, str], set[UUID]]:
    """Return the names of the assistants, organizations and campaigns of calls that came from their
    loader, by id, and the ids of suspended organizations: one query."""
    if not calls:
        return {}, set()
    ids_by_model = (
        (Assistant, {call.assistant_id for call in calls}),
        (Organization, {call.organization_id for call in calls}),
        (Campaign, {call.campaign_id for call in calls if call.campaign_id}),
    )
    is_suspended = Organization.status == OrganizationStatus.SUSPENDED
    queries = (
        select(model.id, model.name, is_suspended if model is Organization else false()).where(
            model.id.in_(ids)
        )
        for model, ids in ids_by_model
        if ids
    )
    rows = session.execute(union_all(*queries)).all()
    return {row.id: row.name for row in rows}, {row.id for row in rows if row[2]}


def count(session: Session, caller: Caller, filters: CallSearch, *, most: int = MAX_COUNTED) -> int:
    """Return how many calls match, as `paging.count_up_to`."""
    rows = matching(session, caller, filters).with_only_columns(Call.id)
    return count_up_to(session, rows, most)


def count_if_few(session: Session, caller: Caller, filters: CallSearch, limit: int) -> int | None:
    """Return how many calls match, as `paging.count_among`, narrowed by the filters with an index:
    the statuses, the number, the days, and an organization or campaign by its id."""
    rows = matching(session, caller, filters).with_only_columns(Call.id)
    indexed_filters = _narrow_filters(filters)
    if indexed_filters == filters:
        return count_up_to(session, rows, limit)
    narrowed = matching(session, caller, indexed_filters).with_only_columns(Call.id)
    return count_among(session, rows, narrowed, limit)


def _narrow_filters(filters: CallSearch) -> CallSearch:
    """Return the filters for which there is an index; conversations have one by day only for a
    single organization."""
    has_days = not filters.billed and (
        not filters.counted or isinstance(filters.organization, UUID)
    )
    return replace(
        filters,
        answered_by=None,
        ended_reason=None,
        organization=_by_id(filters.organization),
        assistant=None,
        campaign=_by_id(filters.campaign),
        current_round=False,
        live=None,
        since=filters.since if has_days else None,
        before=filters.before if has_days else None,
        counted=filters.counted and has_days,
        billed=False,
    )


def _by_id(value: UUID | str | None) -> UUID | None:
    return value if isinstance(value, UUID) else None


def matching(session: Session, caller: Caller, filters: CallSearch) -> Select[Call]:
    """Return the calls that match. Raises `Forbidden`."""
    caller.require(Permission.CALLS_READ)
    rows = visible(caller).where(*_conditions(session, caller, filters))
    if filters.counted:
        rows = rows.join(Conversation, Conversation.call_id == Call.id)
    return rows


def without_calls(session: Session, caller: Caller, filters: CallSearch) -> int:
    """How many conversations of these days and this organization have no call record; 0 if a
    filter applies to call records only."""
    caller.require(Permission.CALLS_READ)
    of_calls = (
        *(filters.states, filters.answered_by, filters.ended_reason, filters.assistant),
        *(filters.campaign, filters.current_round, filters.number),
    )
    asks_calls = any(of_calls) or filters.live is not None or isinstance(filters.organization, str)
    if asks_calls or not filters.counted:
        return 0
    rows = select(func.count()).select_from(Conversation).where(Conversation.call_id.is_(None))
    rows = of_tenant(rows, caller, Conversation.partner_id, Conversation.organization_id)
    if filters.organization is not None:
        rows = rows.where(Conversation.organization_id == filters.organization)
    if filters.since is not None:
        rows = rows.where(Conversation.started_at >= filters.since)
    if filters.before is not None:
        rows = rows.where(Conversation.started_at < filters.before)
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
    end = _end_of_prefix(start)
    in_range = begins & (Call.phone_number < end) if end else begins
    return or_(Call.phone_number.in_(exact), in_range) if exact else in_range


def _end_of_prefix(prefix: str) -> str | None:
    """Return the first text that sorts after every number with these first digits."""
    digits = prefix.rstrip("9")
    return digits[:-1] + str(int(digits[-1]) + 1) if digits != "+" else None


def _conditions(session: Session, caller: Caller, filters: CallSearch) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if filters.states:
        conditions.append(Call.status.in_(filters.states))
    if filters.answered_by is not None:
        conditions.append(Call.answered_by == filters.answered_by)
    if filters.ended_reason is not None:
        conditions.append(Call.ended_reason == filters.ended_reason)
    conditions += _party_conditions(session, caller, filters)
    if filters.number is not None:
        condition = of_number(session, caller, filters.number)
        conditions.append(Call.id.is_(None) if condition is None else condition)
    if filters.live is not None:
        conditions.append(Call.live.is_(filters.live))
    if filters.billed:
        return [*conditions, *_billed_within(filters.since, filters.before)]
    time_conditions = counted_within if filters.counted else accepted_within
    return conditions + time_conditions(filters.since, filters.before)


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


def _party_conditions(
    session: Session, caller: Caller, filters: CallSearch
) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if filters.organization is not None:
        column = Call.organization_id
        conditions.append(name_search.is_of_organization(session, column, filters.organization))
    if filters.assistant is not None:
        conditions.append(_by_assistant(filters.assistant))
    if filters.campaign is not None:
        conditions.append(_of_campaign(caller, filters.campaign))
    if filters.current_round:
        conditions.append(_in_current_round())
    return conditions


def _by_assistant(assistant: UUID | str) -> ColumnElement[bool]:
    if isinstance(assistant, UUID):
        return Call.assistant_id == assistant
    return Call.assistant_id.in_(select(Assistant.id).where(Assistant.named(assistant)))


def _of_campaign(caller: Caller, campaign: UUID | str) -> ColumnElement[bool]:
    if isinstance(campaign, UUID):
        return Call.campaign_id == campaign
    campaign_ids = select(Campaign.id).where(Campaign.named(campaign))
    return Call.campaign_id.in_(
        of_tenant(campaign_ids, caller, Campaign.partner_id, Campaign.organization_id)
    )


def _in_current_round() -> ColumnElement[bool]:
    row = OutreachContact
    is_current = (Outreach.campaign_id == row.campaign_id) & (Outreach.round == row.round)
    in_round = select(row.call_id).join(Outreach, is_current).where(row.call_id == Call.id)
    removed = select(Outreach.campaign_id).where(
        Outreach.campaign_id == Call.campaign_id, *of_removed_contact()
    )
    return in_round.exists() | removed.exists()


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
