"""Calls: the list, one of them with its timeline, and placing a test call."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from flask import g, redirect, render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response
from wtforms import SelectChoice

from app.enums import CallSource, CallStatus, CarrierKind
from app.errors import Conflict, Forbidden, NotFound, ValidationFailed
from app.extensions import caller, settings, transaction
from app.models import Call
from app.models.base import utcnow
from app.portal import lists
from app.portal.blueprint import portal
from app.portal.formats import phone
from app.portal.forms.test_call import HINTS, MOST_WORDS, TestCallForm
from app.services import agents, calls
from app.services.calls import Moment

Page = str | tuple[str, int] | Response

MOST_AGENTS = 200
PLACES_TO_MEND = {
    "organization": ("portal.organizations", "Organizations"),
    "agent": ("portal.organizations", "Show assistants"),
}
TITLES = {
    "accepted": "Queued",
    "scheduled": "Waits for an allowed hour",
    "dialing": "Dialling",
    "ringing": "Ringing",
    "answered": "Answered",
    "said-intro": "Intro spoken",
    "said-voicemail": "Voicemail message spoken",
    "cancel-asked": "Cancelling",
    "cancel-refused": "The carrier goes on",
}
ENDED_WORDS = {
    "completed": "Finished after a conversation",
    "voicemail": "Finished on voicemail",
    "busy": "The line was busy",
    "no_answer": "Nobody answered",
    "rejected": "The carrier refused the call",
    "carrier_error": "The carrier could not place the call",
    "number_invalid": "The number does not exist",
    "canceled": "Cancelled",
    "organization_suspended": "Not placed: the organization is suspended",
    "agent_inactive": "Not placed: the assistant is switched off",
    "do_not_contact": "Not placed: the number is on the do-not-call list",
    "region_not_allowed": "Not placed: the region may not be called",
    "contact_ended": "Not placed: the contact's status ended it",
    "expired": "Not placed in time",
    "unknown": "The carrier could not say whether the call was placed",
}


@portal.get("/calls", endpoint="calls")
def list_calls() -> str:
    place = lists.place()
    with transaction(read_only=True) as session:
        page = calls.page(
            session, caller(), per_page=lists.PAGE_SIZE, before=_as_uuid(place.cursor)
        )
        names = {agent.id: agent.name for agent in agents.list_all(session, caller())}
    last = str(page.calls[-1].id) if page.more else None
    return render_template(
        "portal/calls/list.html",
        calls=page.calls,
        names=names,
        place=place,
        next_url=place.next_url(last),
        ended=ENDED_WORDS,
    )


@portal.get("/calls/<uuid:call_id>")
def call(call_id: UUID) -> str:
    with transaction(read_only=True) as session:
        found = calls.get(session, caller(), call_id)
        agent = agents.get(session, caller(), found.agent_id)
        return render_template("portal/calls/detail.html", agent=agent, **_live(session, found))


@portal.get("/calls/<uuid:call_id>/live")
def call_live(call_id: UUID) -> str:
    """The panel of a call that asks for itself again until the call is over."""
    with transaction(read_only=True) as session:
        found = calls.get(session, caller(), call_id)
        return render_template("portal/calls/_live.html", **_live(session, found))


@portal.post("/calls/<uuid:call_id>/cancel")
def call_cancel(call_id: UUID) -> Page:
    try:
        with transaction() as session:
            calls.cancel(session, caller(), call_id)
    except Conflict as error:
        return redirect(url_for("portal.call", call_id=call_id, problem=error.code), 303)
    return redirect(url_for("portal.call", call_id=call_id), 303)


@portal.get("/test-call")
def test_call() -> Page:
    call_id = _as_uuid(request.args.get("call"))
    if call_id is None:
        return _test_page(TestCallForm(data={"agent": request.args.get("agent")}), None)
    with transaction(read_only=True) as session:
        form = TestCallForm.repeating(calls.get(session, caller(), call_id))
    return _test_page(form, call_id)


@portal.post("/test-call/checks")
def test_call_checks() -> str:
    """The pre-flight list for what the form says at this moment."""
    form = TestCallForm(request.form)
    with transaction(read_only=True) as session:
        return render_template("portal/calls/_checks.html", checks=_checks(session, form))


@portal.post("/test-call")
def test_call_place() -> Page:
    form = TestCallForm(request.form)
    config = settings()
    try:
        with transaction() as session:
            placed = calls.schedule(
                session,
                caller(),
                form.to_request(),
                source=CallSource.TEST,
                live=True,
                carrier=CarrierKind(config.carrier),
                expiry_hours=config.call_expiry_hours,
            )
    except ValidationFailed as error:
        return _test_page(form, None, form.show_problems(list(error.problems))), 422
    except (Conflict, Forbidden, NotFound) as error:
        return _test_page(form, None, [("", error.message)]), 422
    return redirect(url_for("portal.test_call", call=placed.call_id), 303)


def _test_page(
    form: TestCallForm, call_id: UUID | None, problems: Sequence[tuple[str, str]] | None = None
) -> str:
    """``problems`` are given where the form was refused: those that belong to no field."""
    with transaction(read_only=True) as session:
        choices = agents.with_organizations(session, caller(), MOST_AGENTS)
        form.agent.choices = [
            SelectChoice(str(agent.id), _agent_words(agent.name, organization, agent.phone_number))
            for agent, organization in choices
        ]
        if not form.agent.data and choices:
            ready = [a for a, _ in choices if a.active and a.phone_ready] or [choices[0][0]]
            form.agent.data = str(ready[0].id)
        live = _live(session, calls.get(session, caller(), call_id)) if call_id else {}
        checks = _checks(session, form)
        if problems is not None and not form.number.errors:
            # The service names the first thing that stops a call, a form all of them.
            form.number.errors = tuple(c["title"] for c in checks if c.get("url") == "#number")
        return render_template(
            "portal/calls/test.html",
            form=form,
            problems=problems or [],
            hints=HINTS,
            most_words=MOST_WORDS,
            checks=checks,
            has_agents=bool(choices),
            **live,
        )


def _agent_words(name: str, organization: str, number: str | None) -> str:
    return f"{name}, {organization} ({phone(number) if number else 'no number'})"


def _checks(session: Session, form: TestCallForm) -> list[dict[str, Any]]:
    try:
        agent = agents.get(session, caller(), form.agent.data or "")
    except NotFound:
        return []
    found = calls.preflight(session, caller(), agent, form.dialled, form.texts)
    own = agent.phone_number
    return [
        {
            "state": check.state,
            "title": check.sentence.replace(own, phone(own)) if own else check.sentence,
            **(_mend(check.mend, agent.organization_id) if check.state != "passed" else {}),
        }
        for check in found
    ]


def _mend(place: str, organization_id: UUID) -> dict[str, str]:
    """Where a thing is mended, for those who may go there."""
    if place in ("organization", "agent", "calling-hours", "do-not-call") and g.user.partner_id:
        if caller().organization_id is None:
            url = url_for("portal.organization", organization_id=organization_id)
            return {"url": url, "act": "Show the organization"}
        return {}
    anchors = {"number": "#number", "messages": "#said-0"}
    return {"url": anchors[place], "act": "Go to the field"} if place in anchors else {}


def _live(session: Session, found: Call) -> dict[str, Any]:
    moments = calls.timeline(session, caller(), found.id)
    return {
        "call": found,
        "over": found.status.is_final,
        "entries": _entries(found, moments),
        "attempts": calls.attempts_of(session, [found.id])[found.id],
        "ended": ENDED_WORDS,
        "seconds": _seconds(found),
    }


def _entries(found: Call, moments: Sequence[Moment]) -> list[dict[str, Any]]:
    """The timeline: the first moment in clock time, the others as seconds after it."""
    start = moments[0].at if moments else found.created_at
    entries = [
        {
            "title": _title(found, moment),
            "text": moment.detail if moment.kind.startswith("said") else None,
            "when": _after(start, moment.at, first=place == 0),
            "state": "done",
        }
        for place, moment in enumerate(moments)
    ]
    if found.status is CallStatus.UNKNOWN:
        entries[-1]["state"] = "unknown"
    elif found.status.is_final and found.status is not CallStatus.COMPLETED:
        entries[-1]["state"] = "failed"
    elif not found.status.is_final:
        entries[-1]["state"] = "now"
        entries.append(
            {"title": "Completed, busy, no answer or failed", "when": None, "state": "next"}
        )
    return entries


def _title(found: Call, moment: Moment) -> str:
    if moment.kind == "ended":
        return ENDED_WORDS[found.ended_reason] if found.ended_reason else "Ended"
    if moment.kind == "answered" and found.answered_by:
        return "Answered by a person" if found.answered_by == "human" else "Answered by voicemail"
    return TITLES.get(moment.kind, moment.kind.replace("-", " ").capitalize())


def _after(start: datetime, at: datetime, *, first: bool) -> str:
    return f"{at:%H:%M:%S} UTC" if first else f"+{(at - start).total_seconds():.1f} s"


def _seconds(found: Call) -> int:
    """How long the two have been talking, or did."""
    if found.answered_at is None:
        return 0
    return round(((found.ended_at or utcnow()) - found.answered_at).total_seconds())


def _as_uuid(text: str | None) -> UUID | None:
    try:
        return UUID(text) if text else None
    except ValueError:
        return None
