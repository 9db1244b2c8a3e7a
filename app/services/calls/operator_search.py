"""The calls of all partners as operators see them: who placed them, but not who was called."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import Session, load_only

from app.enums import CallStatus, CarrierKind, EndedReason
from app.models import Call, CallAttempt, Conversation, Organization, Partner
from app.phone import region_of
from app.policy import Permission
from app.policy.caller import Caller
from app.services import name_search
from app.services.calls.searching import accepted_within, counted_within
from app.services.paging import Page, both_ways, count_up_to, keyset_page, sort_named
from app.services.spending import format_amount

SORTS = both_ways(created=Call.id, duration=Call.seconds, cost=Call.cost_micros)
"""The sort orders of `search`."""


@dataclass(frozen=True, slots=True)
class PartnerCallFilter:
    """The filters. ``partner`` and ``organization`` are an id or a part of a name; ``counted`` as
    in `CallSearch`."""

    partner: UUID | str | None = None
    organization: UUID | str | None = None
    states: frozenset[CallStatus] = field(default_factory=frozenset)
    carrier: CarrierKind | None = None
    since: datetime | None = None
    before: datetime | None = None
    counted: bool = False


@dataclass(frozen=True, slots=True)
class PartnerCall:
    """A call without data about the person called; of the number, only the ``region`` is
    included."""

    id: UUID
    partner_id: UUID
    partner: str
    organization_id: UUID
    organization: str
    region: str | None
    status: CallStatus
    ended_reason: EndedReason | None
    carrier: CarrierKind
    live: bool
    created_at: datetime
    ended_at: datetime | None
    seconds: int | None
    charged: tuple[int, str] | None
    """The cost in millionths, with its currency."""
    reference: str | None
    """The carrier's reference of the last attempt."""

    @property
    def cost(self) -> str | None:
        """The cost, as files show it."""
        if self.charged is None:
            return None
        micros, currency = self.charged
        return f"{format_amount(micros)} {currency}".strip()


def search(
    session: Session,
    caller: Caller,
    filters: PartnerCallFilter,
    *,
    sort: str = "-created",
    cursor: str | None = None,
    limit: int = 50,
) -> Page[PartnerCall]:
    """Return a page of the calls of all partners, in three queries.

    Raises `Forbidden`, and `ValidationFailed` (``unknown_sort``, ``invalid_cursor``).
    """
    rows = _matching_calls(session, caller, filters)
    page = keyset_page(session, rows, sort_named(sort, SORTS), cursor=cursor, limit=limit)
    names = _names_of(session, {call.organization_id for call in page.items})
    attempts = _attempts_of(session, page.items)
    partner_calls = [
        PartnerCall(
            id=call.id,
            partner_id=call.partner_id,
            partner=partner,
            organization_id=call.organization_id,
            organization=organization,
            region=region_of(call.phone_number),
            status=call.status,
            ended_reason=call.ended_reason,
            carrier=call.carrier,
            live=call.live,
            created_at=call.created_at,
            ended_at=call.ended_at,
            seconds=call.seconds,
            charged=_charged_amount(call, attempts[call.id]),
            reference=_reference_of(attempts[call.id]),
        )
        for call in page.items
        for organization, partner in [names[call.organization_id]]
    ]
    return Page(partner_calls, page.next_cursor)


def count(session: Session, caller: Caller, filters: PartnerCallFilter, *, most: int) -> int:
    """Return how many calls match, as `paging.count_up_to`. Raises `Forbidden`."""
    return count_up_to(
        session, _matching_calls(session, caller, filters).with_only_columns(Call.id), most
    )


def _matching_calls(session: Session, caller: Caller, filters: PartnerCallFilter) -> Select[Call]:
    caller.require(Permission.PARTNER_CREATE)  # which only operators have
    rows = select(Call).where(*_conditions(session, filters))
    return rows.join(Conversation, Conversation.call_id == Call.id) if filters.counted else rows


def _conditions(session: Session, filters: PartnerCallFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if isinstance(filters.partner, UUID):
        conditions.append(Call.partner_id == filters.partner)
    elif filters.partner:
        partner_ids = select(Partner.id).where(Partner.named(filters.partner))
        conditions.append(Call.partner_id.in_(partner_ids))
    if filters.organization:
        column = Call.organization_id
        conditions.append(name_search.is_of_organization(session, column, filters.organization))
    if filters.states:
        conditions.append(Call.status.in_(filters.states))
    if filters.carrier is not None:
        conditions.append(Call.carrier == filters.carrier)
    time_conditions = counted_within if filters.counted else accepted_within
    return conditions + time_conditions(filters.since, filters.before)


def _names_of(session: Session, organization_ids: Collection[UUID]) -> dict[UUID, tuple[str, str]]:
    """Return the names of each organization and its partner, by the organizations' ids."""
    rows = session.execute(
        select(Organization.id, Organization.name, Partner.name)
        .join(Partner, Partner.id == Organization.partner_id)
        .where(Organization.id.in_(organization_ids))
    )
    return {key: (organization, partner) for key, organization, partner in rows}


def _attempts_of(session: Session, calls: Sequence[Call]) -> dict[UUID, list[CallAttempt]]:
    """Return the attempts of each call, in their order."""
    attempts: dict[UUID, list[CallAttempt]] = {call.id: [] for call in calls}
    shown = load_only(
        CallAttempt.call_id,
        CallAttempt.carrier_reference,
        CallAttempt.cost,
        CallAttempt.cost_currency,
    )
    query = select(CallAttempt).where(CallAttempt.call_id.in_(attempts)).options(shown)
    for attempt in session.scalars(query.order_by(CallAttempt.number)):
        attempts[attempt.call_id].append(attempt)
    return attempts


def _reference_of(attempts: Sequence[CallAttempt]) -> str | None:
    """Return the carrier's reference of the last attempt."""
    return attempts[-1].carrier_reference or str(attempts[-1].id) if attempts else None


def _charged_amount(call: Call, attempts: Sequence[CallAttempt]) -> tuple[int, str] | None:
    """Return the cost, in the currency of the first attempt with one."""
    if call.cost_micros is None:
        return None
    currencies = (attempt.cost_currency or "" for attempt in attempts if attempt.cost is not None)
    return call.cost_micros, next(currencies, "")
