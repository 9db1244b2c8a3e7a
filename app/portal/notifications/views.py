"""What happened while the user didn't look, and marking it as read."""

from typing import Any

from flask import flash, redirect, render_template, url_for

from app.extensions import caller, transaction
from app.languages import gettext
from app.models import AuditEntry
from app.portal.alerts.views import titles_of
from app.portal.web import lists
from app.portal.web.blueprint import Page, portal
from app.portal.web.navigation import may_open
from app.services import partners
from app.services.audit import notified
from app.services.audit import search as audit_search
from app.validation.uuids import as_uuid

ICONS = {
    "alert": "bell",
    "dialling": "player-pause",
    "organization": "coin",
    "partner": "coin",
    "phone_number": "phone-off",
    "upload": "file-spreadsheet",
    "user": "user",
    "webhook": "webhook",
}
PAGES = {
    "alert": ("portal.alerts", None),
    "dialling": ("portal.line_health", None),
    "organization": ("portal.organization_spending", "organization_id"),
    "partner": ("portal.portal_settings_spending", None),
    "phone_number": ("portal.phone_numbers", None),
    "upload": ("portal.upload", "upload_id"),
    "user": ("portal.user", "user_id"),
    "webhook": ("portal.api_webhooks", None),
}
"""By the kind of record, its page and the name of the id in its address."""


@portal.get("/notifications", endpoint="notifications")
def list_notifications() -> str:
    place = lists.place()
    with transaction(read_only=True) as session:
        partners.own(caller())
        page = notified.listing(session, caller(), cursor=place.cursor, limit=lists.PAGE_SIZE)
        entries = [entry for entry, _is_unread in page.items]
        titles = titles_of(session, entries)
        names = audit_search.user_names(session, caller(), entries)
    return render_template(
        "portal/notifications/page.html",
        rows=[
            (
                entry,
                titles.get(entry.target_id) or names.get(as_uuid(entry.target_id) or entry.id),
                is_unread,
                ICONS.get(entry.target_type, "mail"),
                _url_of(entry),
            )
            for entry, is_unread in page.items
        ],
        is_any_unread=any(is_unread for _entry, is_unread in page.items),
        place=place,
        next_url=place.next_url(page.next_cursor),
    )


@portal.get("/notifications/bell")
def notifications_bell() -> str:
    return render_template("portal/notifications/bell.html")


@portal.post("/notifications/read")
def notifications_read() -> Page:
    with transaction() as session:
        notified.mark_read(session, caller())
    flash(gettext("All notifications are read."), "success")
    return redirect(url_for("portal.notifications"), 303)


def _url_of(entry: AuditEntry) -> str | None:
    if entry.action == "user.viewed" and may_open(caller(), "portal.audit"):
        return url_for("portal.audit", action=entry.action)
    endpoint, parameter = PAGES.get(entry.target_type, (None, None))
    if endpoint is None or not may_open(caller(), endpoint):
        return None
    values: dict[str, Any] = {parameter: entry.target_id} if parameter else {}
    return url_for(endpoint, **values)
