"""Deleting the data of an upload before its time."""

from uuid import UUID

from flask import url_for
from werkzeug.wrappers import Response

from app.errors import Conflict
from app.extensions import caller, settings, transaction
from app.languages import gettext, ngettext
from app.models import ContactImport
from app.portal.uploads.check_page import to_upload
from app.portal.web.blueprint import Page, portal
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.messages import changing, redirect_with
from app.services.imports import deletion, undo, uploads


@portal.get("/uploads/<uuid:upload_id>/delete-data")
def upload_delete_data_confirm(upload_id: UUID) -> Page:
    with transaction(read_only=True) as session:
        found = uploads.get(session, caller(), upload_id)
    if not deletion.can_be_deleted(found):
        return to_upload(upload_id)
    return ConfirmationPage(
        title=gettext("Delete the data of %(file)s?", file=found.file_name),
        consequences=_consequences(found),
        act=gettext("Delete data"),
        safe=gettext("Keep data"),
        safe_url=url_for("portal.upload", upload_id=upload_id),
    ).page()


@portal.post("/uploads/<uuid:upload_id>/delete-data")
def upload_delete_data(upload_id: UUID) -> Response:
    url = url_for("portal.upload", upload_id=upload_id)
    with changing(url, Conflict, category="danger") as session:
        found = deletion.delete_data(session, caller(), upload_id)
    words = gettext(
        "The data of %(file)s is being deleted. Its storage is free again.", file=found.file_name
    )
    return redirect_with(words, url_for("portal.storage"))


def _consequences(found: ContactImport) -> list[str]:
    words = [gettext("The file and its rows are deleted and can’t be downloaded again.")]
    if undo.can_be_undone(found, settings().undo_days):
        words.append(gettext("The upload can’t be undone any more."))
    if uploads.can_go_on(found):
        left = uploads.rows_left(found)
        words.append(
            ngettext(
                "The %(num)s row that was not applied can’t be applied any more.",
                "The %(num)s rows that were not applied can’t be applied any more.",
                left,
            )
        )
    words.append(gettext("Contacts, figures and history stay."))
    return words
