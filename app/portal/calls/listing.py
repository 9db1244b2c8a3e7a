"""The list of calls."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from flask import request, url_for
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallStatus, EndedReason
from app.extensions import caller
from app.languages import lazy_gettext, lazy_pgettext
from app.models import Call, CallAttempt
from app.policy import Permission
from app.portal.calls.bulk import actions
from app.portal.calls.labels import OUTCOME_LABELS, outcome_beyond_status
from app.portal.web import lists
from app.portal.web.blueprint import portal
from app.portal.web.bulk import BulkItem, ListActions
from app.portal.web.formats import CALL_STATUS_LABELS, phone
from app.portal.web.list_definitions import (
    ListColumn,
    ListDefinition,
    ListFilter,
    figure_column,
    moment_column,
    organization_column,
    status_column,
)
from app.portal.web.navigation import may_open
from app.portal.web.user_timezone import Problems, time_bounds, zone
from app.services import calls
from app.services.calls import CallSearch
from app.services.calls.queries import RUNNING, UNANSWERED, attempts_of
from app.services.calls.searching import SORTS
from app.services.calls.states import FAILURES, NOT_REACHED, WAITING
from app.services.paging import Page

GROUPS = {
    "unanswered": UNANSWERED,
    "not-reached": NOT_REACHED,
    "failures": FAILURES,
    "open": RUNNING,
    "waiting": WAITING,
}
GROUP_LABELS = {
    "unanswered": lazy_gettext("Ended without an answer"),
    "not-reached": lazy_gettext("Busy or no answer"),
    "failures": lazy_gettext("Failed, expired or unknown"),
    "open": lazy_gettext("Not ended yet"),
    "waiting": lazy_gettext("Not placed yet"),
}
ANSWERED_BY = {
    "human": lazy_gettext("Answered by a person"),
    "voicemail": lazy_gettext("Answered by voicemail"),
    "unknown": lazy_gettext("Person or voicemail unclear"),
}
CURRENT = "current"
"""The value of ``round`` that filters by the current rounds of campaigns."""
IN_USAGE = "yes"
"""The value of ``counted`` that filters by what usage counts."""
IN_STATEMENTS = "billed"
"""The value of ``counted`` that filters by what statements count."""
LIVE = {"yes": True, "no": False}
STATUS_FILTER = ListFilter(
    "state",
    lazy_gettext("Status"),
    {**GROUP_LABELS, **CALL_STATUS_LABELS},
    lazy_gettext("Any status"),
)


@dataclass(frozen=True, slots=True)
class CallRow:
    call: Call
    assistant: str
    organization: str
    campaign: str | None
    attempts: Sequence[CallAttempt]
    is_suspended: bool
    """Whether the organization is suspended."""

    @property
    def name(self) -> str:
        """The name of the called person."""
        return self.call.name

    @property
    def short_outcome(self) -> str:
        return str(OUTCOME_LABELS[self.call.ended_reason]) if self.call.ended_reason else ""

    @property
    def outcome_beyond_status(self) -> str:
        return outcome_beyond_status(self.call.ended_reason, self.call.status)

    @property
    def charged(self) -> tuple[Decimal, str] | None:
        """The carrier's charge for all attempts, with the currency; None until it is reported."""
        priced = [(a.cost, a.cost_currency or "") for a in self.attempts if a.cost is not None]
        return (sum((cost for cost, _ in priced), Decimal()), priced[0][1]) if priced else None

    @property
    def cost(self) -> str | None:
        """The same for files."""
        return "{:f} {}".format(*self.charged).strip() if self.charged else None


@portal.app_template_global()
def calls_url(**filters: Any) -> str | None:
    """Return the URL of the list with these filters; None if the user may not open it."""
    return (
        url_for("portal.calls.list_calls", **filters)
        if may_open(caller(), "portal.calls.list_calls")
        else None
    )


def chosen_filters() -> tuple[CallSearch, Problems]:
    """Return the filters of the URL and the problems in them; an invalid one filters nothing.

    Days are in the user's time zone; for calls that usage or statements count, UTC as on their
    pages.
    """
    counted_by = request.args.get("counted")
    since, before, problems = time_bounds(
        "UTC" if counted_by in (IN_USAGE, IN_STATEMENTS) else zone()
    )
    sees_organizations = caller().may(Permission.ORGANIZATIONS_READ)
    filters = CallSearch(
        states=selected_statuses(),
        answered_by=lists.choice_filter("answered", AnsweredBy),
        ended_reason=lists.choice_filter("outcome", EndedReason),
        organization=lists.id_or_text("organization") if sees_organizations else None,
        assistant=lists.id_or_text("agent"),
        campaign=lists.id_or_text("campaign"),
        current_round=request.args.get("round") == CURRENT,
        number=lists.text_filter("number"),
        since=since,
        before=before,
        live=LIVE.get(request.args.get("live", "")),
        counted=counted_by == IN_USAGE,
        billed=counted_by == IN_STATEMENTS,
    )
    return filters, problems


def selected_statuses() -> frozenset[CallStatus]:
    """Return the statuses of the URL, which names one or a group; empty for all."""
    named = lists.choice_filter("state", CallStatus)
    return GROUPS.get(request.args.get("state", ""), frozenset({named} if named else ()))


def _load(session: Session, sort: str, cursor: str | None, limit: int) -> Page[CallRow]:
    page = calls.search(
        session, caller(), chosen_filters()[0], sort=sort, cursor=cursor, limit=limit
    )
    return Page(_rows(session, page.items), page.next_cursor)


def _waiting_calls(session: Session, cursor: str | None, limit: int) -> Page[CallRow]:
    filters = chosen_filters()[0]
    states = filters.states & WAITING if filters.states else WAITING
    if not states:
        return Page((), None)
    waiting = replace(filters, states=states)
    page = calls.search(session, caller(), waiting, cursor=cursor, limit=limit)
    return Page(_rows(session, page.items), page.next_cursor)


def _rows(session: Session, matches: Sequence[Call]) -> list[CallRow]:
    names, suspended = calls.names_and_suspended(session, matches)
    attempts = attempts_of(session, [call.id for call in matches])
    return [
        CallRow(
            call,
            names.get(call.assistant_id, "–"),
            names.get(call.organization_id, "–"),
            names.get(call.campaign_id) if call.campaign_id else None,
            attempts[call.id],
            call.organization_id in suspended,
        )
        for call in matches
    ]


def _item(row: CallRow) -> BulkItem:
    status = str(CALL_STATUS_LABELS[row.call.status])
    return BulkItem(str(row.call.id), phone(row.call.phone_number), status, row)


def _get_many(session: Session, keys: Sequence[str]) -> list[BulkItem]:
    matches = calls.get_many(session, caller(), lists.ids_of(keys))
    return [_item(row) for row in _rows(session, matches)]


CALLS = ListDefinition(
    name="calls",
    nouns=(lazy_gettext("call"), lazy_gettext("calls")),
    endpoint="portal.calls.list_calls",
    columns=(
        ListColumn(
            "number",
            lazy_gettext("Called"),
            lambda row: row.call.phone_number,
            "cell-name cell-number",
            sort="number",
        ),
        ListColumn(
            "contact",
            lazy_gettext("Name of the person"),
            lambda row: row.name,
            is_below=True,
            heading=lazy_gettext("Name"),
        ),
        organization_column(lambda row: row.organization, "from-wide truncated cell-owner"),
        ListColumn(
            "assistant",
            lazy_gettext("Assistant"),
            lambda row: row.assistant,
            "from-desktop truncated truncated-short",
        ),
        ListColumn(
            "campaign",
            lazy_gettext("Campaign"),
            lambda row: row.campaign,
            "from-wide truncated cell-campaign",
        ),
        status_column(
            lambda row: str(CALL_STATUS_LABELS[row.call.status]),
            "phone-first",
            is_sort_for_staff=True,
        ),
        ListColumn(
            "outcome",
            lazy_gettext("Outcome"),
            lambda row: row.short_outcome,
            "truncated",
            sort="outcome",
        ),
        ListColumn(
            "attempts",
            lazy_gettext("Attempts"),
            lambda row: len(row.attempts),
            "end",
            is_default=False,
        ),
        figure_column(
            "duration",
            lazy_gettext("Duration"),
            lambda row: row.call.seconds,
            heading=lazy_gettext("Duration (seconds)"),
        ),
        figure_column(
            "cost", lazy_gettext("Cost"), lambda row: row.cost, "end from-desktop", for_staff=True
        ),
        moment_column(
            "accepted",
            lazy_pgettext("call", "Requested"),
            lambda row: row.call.created_at,
            "end phone-second",
            sort="created",
            heading=lazy_gettext("Requested (UTC)"),
        ),
        ListColumn(
            "answered",
            lazy_gettext("Answered"),
            lambda row: row.call.answered_at,
            "end",
            is_default=False,
            heading=lazy_gettext("Answered (UTC)"),
        ),
        ListColumn(
            "ended",
            lazy_gettext("Ended"),
            lambda row: row.call.ended_at,
            "end",
            is_default=False,
            heading=lazy_gettext("Ended (UTC)"),
        ),
    ),
    filters=(
        ListFilter("number", lazy_gettext("Number")),
        STATUS_FILTER,
        ListFilter(
            "answered", lazy_gettext("Answered by"), ANSWERED_BY, lazy_gettext("Answered or not")
        ),
        ListFilter("outcome", lazy_gettext("Outcome"), OUTCOME_LABELS, lazy_gettext("Any outcome")),
    ),
    sorts=SORTS,
    default_sort="-created",
    load=_load,
    count=lambda session, most: calls.count(session, caller(), chosen_filters()[0], most=most),
    count_if_few=lambda session, most: calls.count_if_few(
        session, caller(), chosen_filters()[0], most
    ),
    bulk=ListActions(_item, _get_many, actions(_waiting_calls), exports=True),
    problems=lambda: chosen_filters()[1],
    more_filters=(
        "organization",
        "agent",
        "campaign",
        "round",
        "within",
        "start",
        "end",
        "live",
        "counted",
    ),
)
