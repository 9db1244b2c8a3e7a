"""Uploads: the list, and one upload in each of its statuses."""

import math
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from flask import redirect, render_template, request, url_for
from flask_login import current_user
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import ImportStatus
from app.errors import Conflict, translate_stored
from app.extensions import caller, settings, transaction
from app.languages import gettext, ngettext, pgettext
from app.languages.dates import NO_BREAK
from app.models import ContactImport, utcnow
from app.portal.uploads import blueprint
from app.portal.uploads.check_page import check_context
from app.portal.uploads.labels import (
    ACTION_NAMES,
    status_badge,
    sum_message,
    working_title,
)
from app.portal.uploads.listing import UPLOADS, UploadRow
from app.portal.uploads.result_page import result_context
from app.portal.uploads.undo_views import extent_label, undone_context
from app.portal.uploads.upload_pages import days_kept, path_of, rows_url, to_upload
from app.portal.web.blueprint import Page
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.fragments import htmx_command, wants_fragment
from app.portal.web.list_definitions import ListDefinition
from app.portal.web.list_pages import list_page
from app.portal.web.messages import changing, redirect_with
from app.services.contacts.results import FAILED
from app.services.imports import (
    corrected_files,
    deletion,
    expiry,
    reports,
    undo,
    uploads,
)


@blueprint.get("/uploads")
def list_uploads() -> str:
    with transaction(read_only=True) as session:
        context = uploads_page(session, UPLOADS)
    return render_template("portal/uploads/list.html", **context)


def uploads_page(session: Session, definition: ListDefinition[UploadRow]) -> dict[str, Any]:
    """Return a page of uploads for the templates, by the filters and the cursor of the URL."""
    return {
        "list": list_page(session, definition),
        "status_badge": status_badge,
        "actions": ACTION_NAMES,
        "can_be_undone": undo.can_be_undone,
        "can_be_deleted": deletion.can_be_deleted,
        "ending_of": reports.ending_of,
        "undo_days": settings().undo_days,
    }


@blueprint.get("/uploads/<uuid:upload_id>")
def show_upload(upload_id: UUID) -> str:
    with transaction(read_only=True) as session:
        contact_import = uploads.get(session, caller(), upload_id)
        page_data = upload_page_data(session, contact_import)
        page, more = _page_of(session, contact_import, page_data)
        return render_template(page, **page_data | more)


def _page_of(
    session: Session, contact_import: ContactImport, page_data: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Return the page of the upload's status, and its data besides ``page_data``, that of
    `upload_page_data`."""
    if contact_import.status in uploads.AT_WORK:
        return "portal/uploads/working.html", {"title": working_title(contact_import)}
    if contact_import.undo_status == undo.UNDOING:
        extent = extent_label(*undo.count_changes(session, contact_import))
        return "portal/uploads/undoing.html", {"extent": extent}
    if contact_import.undo_status == undo.UNDONE:
        return "portal/uploads/undone.html", result_context(
            session, contact_import
        ) | undone_context(contact_import)
    if contact_import.status is ImportStatus.CHECKED:
        return "portal/uploads/check.html", check_context(session, contact_import, page_data)
    if contact_import.expected is not None:
        return "portal/uploads/result.html", result_context(session, contact_import)
    kept_until = expiry.kept_until(contact_import, days_kept(session, contact_import))
    return "portal/uploads/ended.html", {"rows_kept_until": kept_until}


@blueprint.get("/uploads/<uuid:upload_id>/live")
def show_upload_progress(upload_id: UUID) -> Page:
    """Return the panel that reloads itself while the worker is busy; then the whole
    page is loaded, at its rows if they were corrected: a reload would begin at its top."""
    with transaction(read_only=True) as session:
        contact_import = uploads.get(session, caller(), upload_id)
        if contact_import.status in uploads.AT_WORK or contact_import.undo_status == undo.UNDOING:
            return render_template(
                "portal/uploads/_working.html", **upload_page_data(session, contact_import)
            )
    if not wants_fragment():
        return redirect(url_for("portal.uploads.show_upload", upload_id=upload_id), 303)
    if urlsplit(request.headers.get("HX-Current-URL", "")).fragment == "rows":
        url = rows_url(contact_import, FAILED if contact_import.failed else "all")
        return htmx_command("HX-Redirect", url, 200)
    return htmx_command("HX-Refresh", "true", 200)


def upload_page_data(session: Session, contact_import: ContactImport) -> dict[str, Any]:
    figures = uploads.figures_of(contact_import)
    is_author = (
        contact_import.created_by is not None and contact_import.created_by == current_user.id
    )
    return {
        "upload": contact_import,
        **path_of(session, contact_import),
        # Translators: the reader, in "Started 10:47 by you."
        "author": pgettext("by", "you") if is_author else contact_import.author,
        "failure": translate_stored(contact_import.failure) if contact_import.failure else None,
        "corrects": corrected_files.corrected_by(session, caller(), contact_import),
        "figures": figures,
        "sum_message": sum_message(figures.values(), contact_import.rows_total),
        "action": str(ACTION_NAMES[contact_import.action]),
        "to_apply": uploads.rows_to_apply(contact_import),
        "unchanged": uploads.unchanged_rows(contact_import),
        "changes": uploads.changing_rows(contact_import),
        "rows_left": uploads.rows_left(contact_import),
        "pace": _pace(contact_import),
        "can_go_on": uploads.can_go_on(contact_import),
        "can_be_read_again": uploads.can_be_read_again(contact_import),
        "ending": reports.ending_of(contact_import),
        "undo_until": undo.ends_at(contact_import, settings().undo_days),
        "can_be_undone": undo.can_be_undone(contact_import, settings().undo_days),
        "is_deletable": deletion.can_be_deleted(contact_import),
    }


def _pace(contact_import: ContactImport) -> str:
    """Return the pace: 1,210 rows a second, about 20 s left: an estimate, empty at the
    beginning."""
    if (
        contact_import.apply_started_at is None
        or not contact_import.rows_applied
        or contact_import.apply_number > 1
    ):
        return ""
    spent = max((utcnow() - contact_import.apply_started_at).total_seconds(), 0.001)
    seconds = math.ceil(spent / contact_import.rows_applied * uploads.rows_left(contact_import))
    rate = round(contact_import.rows_applied / spent)
    time_left = (
        f"{seconds}{NO_BREAK}s" if seconds < 120 else f"{math.ceil(seconds / 60)}{NO_BREAK}min"
    )
    if not rate:
        return gettext("about %(time)s left", time=time_left)
    return ngettext(
        "%(num)s row a second, about %(time)s left",
        "%(num)s rows a second, about %(time)s left",
        rate,
        time=time_left,
    )


@blueprint.get("/uploads/<uuid:upload_id>/delete-data")
def confirm_delete_upload_data(upload_id: UUID) -> Page:
    with transaction(read_only=True) as session:
        contact_import = uploads.get(session, caller(), upload_id)
        if deletion.can_be_deleted(contact_import):
            return _delete_confirmation(session, contact_import).page()
    return to_upload(upload_id)


def _delete_confirmation(session: Session, contact_import: ContactImport) -> ConfirmationPage:
    url = url_for("portal.uploads.show_upload", upload_id=contact_import.id)
    *parents, (upload_label, _) = path_of(session, contact_import)["crumbs"]
    return ConfirmationPage(
        title=gettext("Delete the data of %(file)s?", file=contact_import.file_name),
        consequences=_consequences(contact_import),
        action_label=gettext("Delete data"),
        keep_label=gettext("Keep data"),
        keep_url=url,
        crumbs=[*parents, (upload_label, url)],
    )


@blueprint.post("/uploads/<uuid:upload_id>/delete-data")
def delete_upload_data(upload_id: UUID) -> Response:
    url = url_for("portal.uploads.show_upload", upload_id=upload_id)
    with changing(url, Conflict, tone="danger") as session:
        contact_import = deletion.delete_data(session, caller(), upload_id)
    message = gettext(
        "The data of %(file)s is being deleted. Its storage is free again.",
        file=contact_import.file_name,
    )
    return redirect_with(message, url_for("portal.storage.show_storage"))


def _consequences(contact_import: ContactImport) -> list[str]:
    was_only_checked = contact_import.expected is None and contact_import.checked_at is not None
    consequences = [
        gettext("The checked rows are deleted and can’t be downloaded again.")
        if was_only_checked
        else gettext("The file and its rows are deleted and can’t be downloaded again.")
    ]
    if undo.can_be_undone(contact_import, settings().undo_days):
        consequences.append(gettext("The upload can’t be undone any more."))
    if uploads.can_go_on(contact_import):
        remaining = uploads.rows_left(contact_import)
        consequences.append(
            ngettext(
                "The %(num)s row that was not applied can’t be applied any more.",
                "The %(num)s rows that were not applied can’t be applied any more.",
                remaining,
            )
        )
    consequences.append(gettext("Contacts, figures and history stay."))
    return consequences
