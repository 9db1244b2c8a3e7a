"""Calls, from acceptance to the end of the line."""

from app.services.calls.cancelling import cancel, cancel_for_contacts
from app.services.calls.description import describe
from app.services.calls.listing import Chosen, Listed, search, without_calls
from app.services.calls.preflight import Check, CheckState, Installation, preflight
from app.services.calls.reading import CallPage, Moment, attempts_of, get, page, timeline
from app.services.calls.request import CallRequest, Texts
from app.services.calls.scheduling import CallScheduled, rehearse, schedule

__all__ = [
    "CallPage",
    "CallRequest",
    "CallScheduled",
    "Check",
    "CheckState",
    "Chosen",
    "Installation",
    "Listed",
    "Moment",
    "Texts",
    "attempts_of",
    "cancel",
    "cancel_for_contacts",
    "describe",
    "get",
    "page",
    "preflight",
    "rehearse",
    "schedule",
    "search",
    "timeline",
    "without_calls",
]
