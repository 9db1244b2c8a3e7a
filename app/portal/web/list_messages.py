"""Sentences about a list that depend on its kind of records."""

from collections.abc import Callable

from app.languages import lazy_gettext, ngettext

ALL_LABELS: dict[str, str] = {
    "organizations": lazy_gettext("All organizations"),
    "users": lazy_gettext("All users"),
    "assistants": lazy_gettext("All assistants"),
    "campaigns": lazy_gettext("All campaigns"),
    "contacts": lazy_gettext("All contacts"),
    "uploads": lazy_gettext("All uploads"),
    "campaign-uploads": lazy_gettext("All uploads"),
    "calls": lazy_gettext("All calls"),
    "partner-calls": lazy_gettext("All calls"),
    "do-not-call": lazy_gettext("All numbers"),
    "webhooks": lazy_gettext("All webhooks"),
    "history": lazy_gettext("All entries"),
    "report": lazy_gettext("All members"),
    "usage": lazy_gettext("Usage of all organizations"),
}
"""Names of lists (`ListDefinition`): the tab of the list itself, next to its saved views."""


def _organizations_on_page(count: int) -> str:
    return ngettext(
        "%(num)s organization on this page", "%(num)s organizations on this page", count
    )


def _calls_on_page(count: int) -> str:
    return ngettext("%(num)s call on this page", "%(num)s calls on this page", count)


def _uploads_on_page(count: int) -> str:
    return ngettext("%(num)s upload on this page", "%(num)s uploads on this page", count)


_ON_PAGE: dict[str, Callable[[int], str]] = {
    "organizations": _organizations_on_page,
    "usage": _organizations_on_page,
    "users": lambda count: ngettext(
        "%(num)s user on this page", "%(num)s users on this page", count
    ),
    "assistants": lambda count: ngettext(
        "%(num)s assistant on this page", "%(num)s assistants on this page", count
    ),
    "campaigns": lambda count: ngettext(
        "%(num)s campaign on this page", "%(num)s campaigns on this page", count
    ),
    "contacts": lambda count: ngettext(
        "%(num)s contact on this page", "%(num)s contacts on this page", count
    ),
    "uploads": _uploads_on_page,
    "campaign-uploads": _uploads_on_page,
    "calls": _calls_on_page,
    "partner-calls": _calls_on_page,
    "do-not-call": lambda count: ngettext(
        "%(num)s number on this page", "%(num)s numbers on this page", count
    ),
    "webhooks": lambda count: ngettext(
        "%(num)s webhook on this page", "%(num)s webhooks on this page", count
    ),
    "history": lambda count: ngettext(
        "%(num)s entry on this page", "%(num)s entries on this page", count
    ),
    "report": lambda count: ngettext(
        "%(num)s member on this page", "%(num)s members on this page", count
    ),
}


def on_page(name: str, count: int) -> str:
    """Return the number of records on a list's page, in words."""
    return _ON_PAGE[name](count)
