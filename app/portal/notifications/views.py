"""Events while the user wasn't looking, and marking them as read."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from flask import redirect, render_template, request, url_for
from sqlalchemy.orm import Session

from app.extensions import caller, transaction
from app.languages import gettext, lazy_gettext
from app.models import AuditEntry
from app.models.audit import CALLING_PAUSE
from app.portal.audit.actors import own_name
from app.portal.audit.entries import targets_of
from app.portal.notifications import blueprint
from app.portal.uploads.labels import STATUS_LABELS, STATUS_TONES
from app.portal.web import lists
from app.portal.web.blueprint import Page
from app.portal.web.messages import redirect_with
from app.portal.web.navigation import may_open
from app.services import organizations, partners
from app.services.audit import notified
from app.services.audit import search as audit_search
from app.services.imports import uploads
from app.services.mails.work_texts import outcome
from app.validation.uuids import as_uuid

FILTERS = ("kind", "state")
KINDS = {
    "alert": lazy_gettext("Alerts"),
    "campaign": lazy_gettext("Campaigns"),
    CALLING_PAUSE: lazy_gettext("Pauses of calling"),
    "mail": lazy_gettext("Emails"),
    "organization": lazy_gettext("Budgets of organizations"),
    "partner": lazy_gettext("Budget of the portal"),
    "phone_number": lazy_gettext("Phone numbers"),
    "upload": lazy_gettext("Uploads"),
    "user": lazy_gettext("Views by the operator"),
    "webhook": lazy_gettext("Webhooks"),
}
"""Icons by the noun of the action."""
ICONS = {
    "alert": "bell",
    "campaign": "speakerphone",
    CALLING_PAUSE: "player-pause",
    "organization": "coin",
    "partner": "coin",
    "phone_number": "phone-off",
    "upload": "file-spreadsheet",
    "user": "user",
    "webhook": "webhook",
}
PAGES = {
    "alert": ("portal.alerts.list_alerts", None),
    "campaign": ("portal.campaigns.show_outreach", "campaign_id"),
    CALLING_PAUSE: ("portal.carriers.show_carrier_status", None),
    "organization": ("portal.spending.edit_organization_spending", "organization_id"),
    "partner": ("portal.spending.show_partner_spending", None),
    "phone_number": ("portal.phone_numbers.list_numbers", None),
    "upload": ("portal.uploads.show_upload", "upload_id"),
    "user": ("portal.users.show_user", "user_id"),
    "webhook": ("portal.webhooks.list_webhooks", None),
}
"""Pages by the kind of record, with the name of the id in their URLs."""


@dataclass(frozen=True, slots=True)
class NotificationRow:
    """``target`` replaces the stored name; ``details`` is related data, such as its organization;
    ``undo`` is the state of the undo of an upload."""

    entry: AuditEntry
    is_unread: bool
    target: str | None
    details: Sequence[str]
    undo: str | None

    @property
    def icon(self) -> str:
        return ICONS.get(self.entry.target_type, "mail")

    @property
    def url(self) -> str | None:
        return _url_of(self.entry)


@blueprint.get("/notifications")
def list_notifications() -> str:
    with transaction(read_only=True) as session:
        partners.own_partner_id(caller())
        context = _list_context(session, notified.kinds(caller()))
    return render_template(
        "portal/notifications/page.html",
        **context,
        is_viewing=caller().viewed_by is not None,
        undo_names=STATUS_LABELS,
        undo_tones=STATUS_TONES,
    )


def _list_context(session: Session, kinds: Collection[str]) -> dict[str, Any]:
    """Return a page of the notifications that the URL's filters find."""
    position, kind = lists.current_position(), request.args.get("kind")
    page = notified.listing(
        session,
        caller(),
        kind=kind if kind in kinds else None,
        unread=request.args.get("state") == "unread",
        **position.query_args,
    )
    return {
        "kinds": {each: KINDS[each] for each in kinds},
        "rows": _list_rows(session, page.items),
        "filter_params": lists.present(*FILTERS),
        **position.pager(page.next_cursor, *FILTERS),
    }


def _list_rows(
    session: Session, entries_with_marks: Sequence[tuple[AuditEntry, bool]]
) -> list[NotificationRow]:
    entries = [entry for entry, _is_unread in entries_with_marks]
    targets = targets_of(session, entries)
    users = audit_search.user_names(session, caller(), entries, own_name())
    names = {}
    if caller().organization_id is None:
        ids = {entry.organization_id for entry in entries if entry.organization_id is not None}
        names = organizations.names_of(session, caller(), ids)
    uploaded = {UUID(entry.target_id) for entry in entries if entry.action == "upload.applied"}
    undone = uploads.undo_statuses(session, caller(), uploaded) if uploaded else {}
    rows = []
    for entry, is_unread in entries_with_marks:
        target_id = as_uuid(entry.target_id) or entry.id
        texts = [
            names.get(entry.organization_id or entry.id, "")
            if entry.target_type not in ("alert", "organization")  # their words name it
            else "",
            outcome(entry.after) if entry.target_type == "upload" else "",
        ]
        rows.append(
            NotificationRow(
                entry,
                is_unread,
                targets.get(entry.id) or users.get(target_id),
                [text for text in texts if text],
                undone.get(target_id) if entry.action == "upload.applied" else None,
            )
        )
    return rows


@blueprint.get("/notifications/bell")
def show_bell() -> str:
    return render_template("portal/notifications/bell.html")


@blueprint.post("/notifications/read")
def mark_all_read() -> Page:
    with transaction() as session:
        notified.mark_all_read(session, caller())
    return redirect_with(
        gettext("All notifications are read."), url_for("portal.notifications.list_notifications")
    )


@blueprint.post("/notifications/<uuid:entry_id>/read")
def mark_read(entry_id: UUID) -> Page:
    """Mark one as read; with ``open``, redirect to its record."""
    with transaction() as session:
        notified.mark_read(session, caller(), AuditEntry.id == entry_id)
        entry = notified.get(session, caller(), entry_id)
    if "open" in request.form and entry and (url := _url_of(entry)):
        return redirect(url, 303)
    return redirect(
        url_for("portal.notifications.list_notifications", **lists.present(*FILTERS)), 303
    )


def _url_of(entry: AuditEntry) -> str | None:
    if entry.action == "user.viewed" and may_open(caller(), "portal.audit.show_audit"):
        return url_for("portal.audit.show_audit", action=entry.action)
    endpoint, parameter = PAGES.get(entry.target_type, (None, None))
    if endpoint is None or not may_open(caller(), endpoint):
        return None
    values: dict[str, Any] = {parameter: entry.target_id} if parameter else {}
    return url_for(endpoint, **values)
