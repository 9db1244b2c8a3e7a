"""Contacts of campaigns: bulk changes (`apply`) and reading."""

from app.services.contacts.apply import apply
from app.services.contacts.browsing import counts_of, search
from app.services.contacts.requests import ContactPage, get, page, send
from app.services.contacts.results import BulkResult, Change

__all__ = [
    "BulkResult",
    "Change",
    "ContactPage",
    "apply",
    "counts_of",
    "get",
    "page",
    "search",
    "send",
]
