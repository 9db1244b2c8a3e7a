"""The list of the calls of all partners."""

from flask import request
from sqlalchemy.orm import Session

from app.enums import CallStatus, CarrierKind
from app.extensions import caller
from app.languages import lazy_gettext, lazy_pgettext
from app.portal.calls.labels import ENDED_LABELS
from app.portal.calls.listing import (
    IN_USAGE,
    STATUS_FILTER,
    selected_statuses,
)
from app.portal.web import lists
from app.portal.web.formats import CALL_STATUS_LABELS
from app.portal.web.list_definitions import (
    ListColumn,
    ListDefinition,
    ListFilter,
    figure_column,
    moment_column,
)
from app.portal.web.region_choices import region_title
from app.portal.web.user_timezone import Problems, time_bounds, zone
from app.services.calls import operator_search
from app.services.calls.operator_search import SORTS, PartnerCall, PartnerCallFilter
from app.services.paging import Page

CARRIER_TITLES = {
    CarrierKind.SIMULATOR: lazy_gettext("Simulated carrier"),
    CarrierKind.SIP: lazy_gettext("SIP trunk"),
    CarrierKind.TWILIO: lazy_gettext("Twilio"),
}


def chosen_filters() -> tuple[PartnerCallFilter, Problems]:
    """Return the filters of the URL and their problems; an invalid one is ignored. Days are in the
    user's time zone; for calls that usage counts, UTC as on its page."""
    in_usage = request.args.get("counted") == IN_USAGE
    since, before, problems = time_bounds("UTC" if in_usage else zone())
    filters = PartnerCallFilter(
        partner=lists.id_or_text("partner"),
        organization=lists.id_or_text("organization"),
        states=selected_statuses(),
        carrier=lists.choice_filter("carrier", CarrierKind),
        since=since,
        before=before,
        counted=in_usage,
    )
    return filters, problems


def _load(session: Session, sort: str, cursor: str | None, limit: int) -> Page[PartnerCall]:
    return operator_search.search(
        session, caller(), chosen_filters()[0], sort=sort, cursor=cursor, limit=limit
    )


def outcome(row: PartnerCall) -> str | None:
    """Return how a call ended, in words; None before its end."""
    return str(ENDED_LABELS[row.ended_reason]) if row.ended_reason else None


def names_reference(row: PartnerCall) -> bool:
    """Return whether the page shows the carrier's reference, with which the carrier can explain why
    the call failed, or whether it was placed."""
    return row.status in (CallStatus.FAILED, CallStatus.UNKNOWN)


PARTNER_CALLS = ListDefinition(
    name="partner-calls",
    nouns=(lazy_gettext("call"), lazy_gettext("calls")),
    endpoint="portal.operator.list_calls",
    columns=(
        ListColumn(
            "organization",
            lazy_gettext("Organization"),
            lambda row: row.organization,
            "cell-name cell-name-text",
        ),
        ListColumn("partner", lazy_gettext("Partner"), lambda row: row.partner, "truncated"),
        ListColumn(
            "country",
            lazy_gettext("Country"),
            lambda row: region_title(row.region) if row.region else None,
            "wrap",
            is_default=False,
        ),
        ListColumn(
            "status",
            lazy_gettext("Status"),
            lambda row: str(CALL_STATUS_LABELS[row.status]),
            "phone-first",
        ),
        ListColumn("outcome", lazy_gettext("Outcome"), outcome, "wrap"),
        ListColumn(
            "carrier",
            lazy_gettext("Carrier"),
            lambda row: str(CARRIER_TITLES[row.carrier]),
            "wrap from-desktop",
        ),
        figure_column(
            "duration",
            lazy_gettext("Duration"),
            lambda row: row.seconds,
            heading=lazy_gettext("Duration (seconds)"),
        ),
        figure_column("cost", lazy_gettext("Cost"), lambda row: row.cost, "end from-desktop"),
        moment_column(
            "accepted",
            lazy_pgettext("call", "Requested"),
            lambda row: row.created_at,
            "end phone-second",
            sort="created",
            heading=lazy_gettext("Requested (UTC)"),
        ),
        ListColumn(
            "ended",
            lazy_gettext("Ended"),
            lambda row: row.ended_at,
            "end",
            is_default=False,
            heading=lazy_gettext("Ended (UTC)"),
        ),
        ListColumn(
            "reference",
            lazy_gettext("Carrier reference"),
            lambda row: row.reference,
            "wrap",
            is_default=False,
        ),
        ListColumn("id", lazy_gettext("ID"), lambda row: str(row.id), "wrap", is_default=False),
    ),
    filters=(
        ListFilter("partner", lazy_gettext("Partner")),
        STATUS_FILTER,
        ListFilter("organization", lazy_gettext("Organization")),
        ListFilter("carrier", lazy_gettext("Carrier"), CARRIER_TITLES, lazy_gettext("Any carrier")),
    ),
    sorts=SORTS,
    default_sort="-created",
    load=_load,
    count=lambda session, most: operator_search.count(
        session, caller(), chosen_filters()[0], most=most
    ),
    problems=lambda: chosen_filters()[1],
    more_filters=("within", "start", "end", "counted"),
)
