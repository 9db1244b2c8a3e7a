"""The user's exports that the worker writes: their page, their files, deleting them."""

from collections.abc import Sequence
from uuid import UUID

from flask import render_template, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import ExportFormat, ExportState
from app.errors import NotFound
from app.extensions import caller, delete_file, transaction
from app.languages import gettext, lazy_gettext
from app.models import ListExport
from app.policy import Permission
from app.portal.record_lists.export_views import MEDIA_TYPES
from app.portal.record_lists.registry import LISTS, list_named
from app.portal.web.blueprint import portal
from app.portal.web.messages import redirect_with
from app.portal.web.stored_files import send_stored
from app.services import exports
from app.services.exports.words import FORMAT_NAMES, SUBJECT_TITLES, problem_words
from app.services.personal_data import exporting

STATE_BADGES = {
    ExportState.WAITING: (lazy_gettext("Being prepared"), "info"),
    ExportState.READY: (lazy_gettext("Ready"), "success"),
    ExportState.FAILED: (lazy_gettext("Failed"), "danger"),
}
WORDS = {
    "names": SUBJECT_TITLES,
    "formats": FORMAT_NAMES,
    "badges": STATE_BADGES,
    "problem_words": problem_words,
    "days": exports.KEPT_FOR.days,
}


@portal.get("/exports", endpoint="exports")
def own_exports() -> str:
    with transaction(read_only=True) as session:
        found = exports.of_user(session, caller())
        return render_template(
            "portal/exports/list.html",
            rows=[(each, LISTS.get(each.list_name)) for each in found],
            is_waiting=any(each.state is ExportState.WAITING for each in found),
            subjects=_subjects(session, found),
            **WORDS,
        )


def _subjects(session: Session, found: Sequence[ListExport]) -> dict[UUID, str | None]:
    """Return the names of the people whose data the exports hold, by the id of the export."""
    return {
        each.id: exporting.name_of(session, caller(), each.list_name, each.query)
        for each in found
        if each.file_format is ExportFormat.ZIP
    }


@portal.get("/exports/<uuid:export_id>/file")
def export_file(export_id: UUID) -> Response:
    """Send the file, if the user may still open its list."""
    with transaction(read_only=True) as session:
        found = exports.file_of(session, caller(), export_id)
    if found.file_format is ExportFormat.ZIP:
        caller().require(Permission.PERSONAL_DATA)
    else:
        list_named(found.list_name)
    return _sent(found)


def _sent(found: ListExport) -> Response:
    name = f"{found.list_name}-{found.created_at:%Y-%m-%d}.{found.file_format}"
    try:
        return send_stored(found.file_key, MEDIA_TYPES[found.file_format], name, is_saved=True)
    except FileNotFoundError:
        raise NotFound(gettext("There is no such export."), "export_not_found") from None


@portal.post("/exports/<uuid:export_id>/delete")
def export_delete(export_id: UUID) -> Response:
    with transaction() as session:
        key = exports.delete(session, caller(), export_id)
    if key:
        delete_file(key)
    return redirect_with(gettext("The export was deleted."), url_for("portal.exports"))
