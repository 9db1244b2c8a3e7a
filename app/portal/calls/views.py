"""Calls: the list with its filters, one call, its recording, and cancelling it."""

from typing import Any
from uuid import UUID

from flask import make_response, redirect, render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import RetentionKind
from app.errors import Conflict, NotFound
from app.extensions import caller, settings, transaction
from app.languages import gettext
from app.policy import Permission
from app.portal.calls import blueprint, listing
from app.portal.calls.do_not_call_views import never_calling_it
from app.portal.calls.labels import (
    ANSWERED_LABELS,
    SOURCE_LABELS,
    advice_on,
    cancel_confirmation,
    counted_label,
    is_own_page,
    live_panel_data,
    reached_no_one,
)
from app.portal.do_not_call.confirmation import DoNotCallReasonForm
from app.portal.web import organization_picker
from app.portal.web.author_names import author_names
from app.portal.web.blueprint import Page
from app.portal.web.fragments import render_checked
from app.portal.web.list_pages import ListPage, list_page, without_empty
from app.portal.web.stored_files import send_stored
from app.services import (
    assistants,
    calls,
    campaigns,
    overview,
    recordings,
)
from app.services.calls import CallSearch
from app.services.money_format import shared_digits
from app.services.overview import CallSurroundings
from app.services.partners import retention_policy

MAX_LATER = 5
"""Maximum later calls that the page of a call links."""


@blueprint.get("/calls")
def list_calls() -> Page:
    filters, problems = listing.chosen_filters()
    with transaction(read_only=True) as session:
        page = without_empty(list_page(session, listing.CALLS), "campaign", "cost")
        return render_checked(
            "portal/calls/list.html",
            problems,
            **_filters(session, filters),
            **_list_context(page),
            has_imported=page.is_empty and calls.has_imported(session, caller()),
        )


def _list_context(page: ListPage[listing.CallRow]) -> dict[str, Any]:
    """Return a page of calls, and the data that its columns show for all rows."""
    return {
        "list": page,
        "cost_digits": shared_digits(row.charged for row in page.rows if row.charged),
        "carriers": sorted({row.call.carrier for row in page.rows}),
    }


def _filters(session: Session, filters: CallSearch) -> dict[str, Any]:
    """Return the chosen filters, and the names of the records whose ids they have."""
    named = organization_picker.named_in_filter(session)
    if isinstance(filters.assistant, UUID):
        named["agent"] = assistants.get(session, caller(), filters.assistant).name
    if isinstance(filters.campaign, UUID):
        named["campaign"] = campaigns.get(session, caller(), filters.campaign).name
    return {
        "call_filters": filters,
        "filter_labels": named,
        "all_organizations": caller().organization_id is None,
        "unlisted": calls.without_calls(session, caller(), filters),
    }


@blueprint.get("/calls/<uuid:call_id>")
def show_call(call_id: UUID) -> str:
    with transaction(read_only=True) as session:
        surroundings = overview.call_with_surroundings(session, caller(), call_id)
        return render_template(
            "portal/calls/detail.html",
            **_call_context(session, surroundings),
            **live_panel_data(session, surroundings.call),
        )


def _call_context(session: Session, surroundings: CallSurroundings) -> dict[str, Any]:
    """Return the context of a call: what it belongs to, its recordings and their retention, the
    calls linked by "Call again" before and after it, what to do about its end, whether its number
    is on the do-not-call list, and how to add it."""
    call, campaign_id = surroundings.call, surroundings.call.campaign_id
    partner = surroundings.partner
    is_listable = not (surroundings.is_listed or call.verifies_a_number or call.is_erased)
    return {
        "assistant": surroundings.assistant,
        "campaign": campaigns.get(session, caller(), campaign_id) if campaign_id else None,
        "organization": surroundings.organization.name,
        "earlier": calls.earlier_of(session, caller(), call),
        "later": calls.later_of(session, caller(), call, MAX_LATER),
        "requesters": author_names(session, [call.requested_by]),
        "conversation": surroundings.recording,
        "is_listed": surroundings.is_listed,
        "listing": never_calling_it(call, surroundings.organization, surroundings.waiting)
        if is_listable and caller().may(Permission.CONTACTS_WRITE)
        else None,
        "reason": DoNotCallReasonForm().reason,
        "counts": counted_label(call),
        "sources": SOURCE_LABELS,
        "answered": ANSWERED_LABELS,
        "advice": advice_on(call.ended_reason, call.carrier),
        "recording_days": retention_policy.days_kept(partner, RetentionKind.RECORDINGS, settings()),
        "transcript_days": retention_policy.days_kept(
            partner, RetentionKind.TRANSCRIPTS, settings()
        ),
    }


@blueprint.get("/calls/<uuid:call_id>/live")
def show_call_progress(call_id: UUID) -> Response:
    """Return the panel of a call, which reloads itself until the call is over; then the whole page
    is loaded again if it is that of the call, or asks for the code of a call that reached no one.
    """
    with transaction(read_only=True) as session:
        call = calls.get(session, caller(), call_id)
        panel = make_response(
            render_template("portal/calls/_live.html", **live_panel_data(session, call))
        )
    asks_in_vain = call.verifies_a_number and reached_no_one(call)
    if asks_in_vain or (call.status.is_final and is_own_page(call)):
        panel.headers["HX-Refresh"] = "true"
    return panel


@blueprint.get("/calls/<uuid:call_id>/cancel")
def confirm_cancel_call(call_id: UUID) -> str | Response:
    with transaction(read_only=True) as session:
        call = calls.get(session, caller(), call_id)
    if call.status.is_final:
        return redirect(
            url_for("portal.calls.show_call", call_id=call_id, problem="call_ended"), 303
        )
    return cancel_confirmation(call).page()


@blueprint.post("/calls/<uuid:call_id>/cancel")
def cancel_call(call_id: UUID) -> Response:
    try:
        with transaction() as session:
            calls.cancel(session, caller(), call_id, settings().secret_keys)
    except Conflict as error:
        return redirect(url_for("portal.calls.show_call", call_id=call_id, problem=error.code), 303)
    return redirect(url_for("portal.calls.show_call", call_id=call_id), 303)


@blueprint.get("/calls/<uuid:call_id>/recording")
def download_recording(call_id: UUID) -> Response:
    """Send the recording, or the part that a player requests."""
    with transaction(read_only=True) as session:
        recording = recordings.file_of(session, caller(), call_id)
    content_type = recording.content_type or "application/octet-stream"
    name = f"call-{call_id}.{recordings.extension_of(recording.content_type or '')}"
    try:
        return send_stored(
            recording.file_key, content_type, name, is_saved="download" in request.args
        )
    except FileNotFoundError:
        message = gettext("There is no recording of this call.")
        raise NotFound(message, "recording_not_found") from None
