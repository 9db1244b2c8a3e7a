"""Calls: the list with its filters, one call, and cancelling it."""

from urllib.parse import urlsplit
from uuid import UUID

from flask import make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from app.enums import AnsweredBy, CallStatus
from app.errors import Conflict
from app.extensions import caller, settings, transaction
from app.policy import Permission
from app.portal.calls.labels import ANSWERED_WORDS, ENDED_WORDS, SOURCE_WORDS, cancelling, live
from app.portal.web import lists
from app.portal.web.blueprint import portal
from app.portal.web.formats import CALL_STATUS_NAMES
from app.portal.web.user_timezone import Problems, day_bounds, zone
from app.services import assistants, calls, campaigns, organizations
from app.services.calls import CallSearch
from app.services.calls.queries import RUNNING, UNANSWERED

FILTERS = ("number", "state", "answered", "organization", "agent", "start", "end", "live")
GROUPS = {"unanswered": UNANSWERED, "open": RUNNING}
GROUP_WORDS = {"unanswered": "Ended without an answer", "open": "In progress"}
LIVE = {"yes": True, "no": False}


@portal.get("/calls", endpoint="calls")
def list_calls() -> str | tuple[str, int]:
    place = lists.place()
    chosen, problems = _chosen()
    with transaction(read_only=True) as session:
        page = calls.search(session, caller(), chosen, cursor=place.cursor, limit=lists.PAGE_SIZE)
        unlisted = calls.without_calls(session, caller(), chosen)
        named = {}
        for name in ("organization", "assistant"):
            wanted = getattr(chosen, name)
            if isinstance(wanted, UUID):
                load = organizations.get if name == "organization" else assistants.get
                named[name] = load(session, caller(), wanted).name
    answer = render_template(
        "portal/calls/list.html",
        page=page,
        unlisted=unlisted,
        chosen=chosen,
        named=named,
        problems=problems,
        place=place,
        next_url=place.next_url(page.next_cursor),
        ended=ENDED_WORDS,
        answered=ANSWERED_WORDS,
        states={**GROUP_WORDS, **CALL_STATUS_NAMES},
        all_organizations=caller().organization_id is None,
        clear_url=lists.clear_url(*FILTERS, "counted"),
    )
    return (answer, 422) if problems else answer


@portal.get("/calls/<uuid:call_id>")
def call(call_id: UUID) -> str:
    with transaction(read_only=True) as session:
        found = calls.get(session, caller(), call_id)
        assistant = assistants.get(session, caller(), found.assistant_id)
        of = found.campaign_id
        campaign = campaigns.get(session, caller(), of) if of else None
        names = organizations.names_of(session, caller(), [found.organization_id])
        return render_template(
            "portal/calls/detail.html",
            assistant=assistant,
            campaign=campaign,
            organization=names.get(found.organization_id),
            sources=SOURCE_WORDS,
            answered=ANSWERED_WORDS,
            **live(session, found),
        )


@portal.get("/calls/<uuid:call_id>/live")
def call_live(call_id: UUID) -> Response:
    """Return the panel of a call, which reloads itself until the call is over; then the whole page
    is loaded again."""
    with transaction(read_only=True) as session:
        found = calls.get(session, caller(), call_id)
        panel = make_response(render_template("portal/calls/_live.html", **live(session, found)))
    page = urlsplit(request.headers.get("HX-Current-URL", "")).path
    if found.status.is_final and page == url_for("portal.call", call_id=call_id):
        panel.headers["HX-Refresh"] = "true"
    return panel


@portal.get("/calls/<uuid:call_id>/cancel")
def call_cancel_confirm(call_id: UUID) -> str | Response:
    with transaction(read_only=True) as session:
        found = calls.get(session, caller(), call_id)
    if found.status.is_final:
        return redirect(url_for("portal.call", call_id=call_id, problem="call_ended"), 303)
    return cancelling(found).page()


@portal.post("/calls/<uuid:call_id>/cancel")
def call_cancel(call_id: UUID) -> Response:
    try:
        with transaction() as session:
            calls.cancel(session, caller(), call_id, settings().secret_keys)
    except Conflict as error:
        return redirect(url_for("portal.call", call_id=call_id, problem=error.code), 303)
    return redirect(url_for("portal.call", call_id=call_id), 303)


def _chosen() -> tuple[CallSearch, Problems]:
    """Return the filters of the URL and the problems in them; an invalid one filters nothing.

    Days are in the user's time zone; for calls that usage counts, UTC as on the usage page.
    """
    counted = request.args.get("counted") == "yes"
    since, before, problems = day_bounds("UTC" if counted else zone())
    state = request.args.get("state", "")
    named = lists.choice_filter("state", CallStatus)
    chosen = CallSearch(
        states=GROUPS.get(state, frozenset({named} if named else ())),
        answered_by=lists.choice_filter("answered", AnsweredBy),
        organization=lists.id_or_words("organization") if _sees_organizations() else None,
        assistant=lists.id_or_words("agent"),
        number=lists.text_filter("number"),
        since=since,
        before=before,
        live=LIVE.get(request.args.get("live", "")),
        counted=counted,
    )
    return chosen, problems


def _sees_organizations() -> bool:
    return caller().may(Permission.ORGANIZATIONS_READ)
