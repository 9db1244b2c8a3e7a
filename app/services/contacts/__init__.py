"""Contacts of campaigns: bulk changes (`apply`) and reading."""

from app.services.contacts.apply import apply
from app.services.contacts.browsing import NO_STATUS, Hindrance, search, statuses_of
from app.services.contacts.rehearsing import Rehearsal
from app.services.contacts.requests import ContactPage, get, page, send
from app.services.contacts.results import BulkResult, Change

__all__ = [
    "NO_STATUS",
    "BulkResult",
    "Change",
    "ContactPage",
    "Hindrance",
    "Rehearsal",
    "apply",
    "get",
    "page",
    "search",
    "send",
    "statuses_of",
]
