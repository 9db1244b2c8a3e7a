"""Lists as files: all rows that match the filters of the URL, in the chosen columns.

A short list is sent at once. The worker writes a long one, and its user gets a mail.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from flask import redirect, render_template, request, send_file, stream_with_context, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import ExportFormat, ExportStatus
from app.errors import Conflict, NotFound
from app.extensions import caller, delete_file, figures, settings, transaction
from app.languages import gettext, lazy_gettext
from app.models import ListExport, utcnow
from app.policy import Permission
from app.portal.record_lists import blueprint
from app.portal.record_lists.exporting import write_xlsx
from app.portal.record_lists.registry import LISTS, list_named
from app.portal.web.blueprint import Page
from app.portal.web.bulk import ListActions
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.formats import number
from app.portal.web.list_definitions import ListColumn, ListDefinition
from app.portal.web.list_pages import filtered_url, query_about
from app.portal.web.list_rows import CHUNK, cells_of, chunks, headings_of, sheet_name
from app.portal.web.lists import csv_file
from app.portal.web.messages import changing, redirect_with
from app.portal.web.stored_files import send_stored
from app.portal.web.user_timezone import zone
from app.services import csv_files, exports
from app.services.csv_files import Cell
from app.services.exports.labels import FORMAT_NAMES, SUBJECT_TITLES, problem_label
from app.services.personal_data import exporting

OF_LISTS = (ExportFormat.CSV, ExportFormat.XLSX)
MEDIA_TYPES = {
    ExportFormat.CSV: "text/csv; charset=utf-8",
    ExportFormat.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ExportFormat.ZIP: "application/zip",
}


@blueprint.get("/lists/<name>/export.<any(csv, xlsx):ending>")
def export_list(name: str, ending: str) -> Response:
    """Export the list as CSV, streamed, or as XLSX; redirect to `new_export` for a long
    one."""
    definition = _get_list(name)
    if _is_long(definition):
        return _to_preparing(name, ending)
    columns = definition.columns_of(request.args)
    row_chunks = chunks(definition, columns, definition.sort_of(request.args))
    return _file(definition, ending, headings_of(columns), row_chunks)


def _is_long(definition: ListDefinition[Any]) -> bool:
    """Return whether the worker writes the file."""
    with figures() as session:
        limit = settings().export_rows
        return definition.count(session, limit) > limit


def _to_preparing(name: str, ending: str) -> Response:
    query = urlencode(list(request.args.items(multi=True)))
    url = url_for("portal.record_lists.new_export", name=name, format=ending)
    return redirect(f"{url}&{query}" if query else url, 303)


def _stream_csv(headings: Sequence[str], row_chunks: Iterator[list[list[Cell]]]) -> Iterator[bytes]:
    first = next(row_chunks)  # errors are raised before the response begins
    csv_lines = map(csv_files.lines, chain([first], row_chunks))
    return stream_with_context(chain([csv_files.first_line(headings)], csv_lines))


def _xlsx_file(
    definition: ListDefinition[Any], headings: Sequence[str], row_chunks: Iterable[list[list[Cell]]]
) -> Response:
    file = write_xlsx(sheet_name(definition), headings, row_chunks)
    name, kind = f"{_file_name(definition)}.xlsx", MEDIA_TYPES[ExportFormat.XLSX]
    return send_file(file, kind, as_attachment=True, download_name=name)


def _file_name(definition: ListDefinition[Any]) -> str:
    return f"{definition.name}-{utcnow():%Y-%m-%d}"


@blueprint.get("/lists/<name>/selected.<any(csv, xlsx):ending>")
def export_selected(name: str, ending: str) -> Response:
    """Export the selected rows as CSV or XLSX, or with ``all`` those that match the filters."""
    definition = _get_list(name)
    if definition.bulk is None or not definition.bulk.exports:
        raise NotFound
    if request.args.get("all"):
        url = url_for("portal.record_lists.export_list", name=name, ending=ending)
        return redirect(f"{url}?{query_about(definition)}", 303)
    columns = definition.columns_of(request.args)
    rows = _selected_cells(definition.bulk, columns)
    return _file(definition, ending, headings_of(columns), iter([rows]))


def _selected_cells(actions: ListActions, columns: Sequence[ListColumn[Any]]) -> list[list[Cell]]:
    with figures() as session:
        items = actions.get_many(session, request.args.getlist("id")[:CHUNK])
        return cells_of([item.row for item in items], columns)


def _file(
    definition: ListDefinition[Any],
    ending: str,
    headings: Sequence[str],
    row_chunks: Iterator[list[list[Cell]]],
) -> Response:
    if ending == ExportFormat.XLSX:
        return _xlsx_file(definition, headings, row_chunks)
    return csv_file(_file_name(definition), _stream_csv(headings, row_chunks))


@blueprint.get("/lists/<name>/exports")
def new_export(name: str) -> str:
    """Ask the user to confirm that the list is written as a file."""
    definition = _get_list(name)
    _format()
    return _prepare_confirmation(definition).page()


def _prepare_confirmation(definition: ListDefinition[Any]) -> ConfirmationPage:
    return ConfirmationPage(
        action=request.full_path,
        title=gettext("Prepare this export?"),
        consequences=[
            gettext(
                "The list has more than %(num)s rows, so its file is written in the background.",
                num=number(settings().export_rows),
            ),
            gettext("It holds exactly what the list shows, with its filters and columns."),
            gettext(
                "You get an email when it’s ready. Download the file within %(num)s days.",
                num=exports.RETENTION.days,
            ),
        ],
        action_label=gettext("Prepare export"),
        keep_label=gettext("Back to the list"),
        keep_url=filtered_url(definition),
        danger=False,
    )


@blueprint.post("/lists/<name>/exports")
def create_export(name: str) -> Page:
    definition = _get_list(name)
    export_input = exports.ExportInput(name, query_about(definition), _format(), zone())
    url = url_for("portal.record_lists.list_exports")
    with changing(url, Conflict) as session:
        exports.create(session, caller(), export_input)
    return redirect_with(gettext("The export is being prepared. You get an email."), url)


def _get_list(name: str) -> ListDefinition[Any]:
    """Return the list. Raises `NotFound`, and `ValidationFailed` for invalid filters."""
    definition = list_named(name)
    definition.refuse_problems()
    return definition


def _format() -> ExportFormat:
    """Return the format in the URL. Raises `NotFound`."""
    requested = request.args.get("format", "")
    if requested not in OF_LISTS:
        raise NotFound
    return ExportFormat(requested)


STATUS_BADGES = {
    ExportStatus.WAITING: (lazy_gettext("Being prepared"), "info"),
    ExportStatus.READY: (lazy_gettext("Ready"), "success"),
    ExportStatus.FAILED: (lazy_gettext("Failed"), "danger"),
}
PAGE_LABELS = {
    "names": SUBJECT_TITLES,
    "formats": FORMAT_NAMES,
    "badges": STATUS_BADGES,
    "problem_label": problem_label,
    "days": exports.RETENTION.days,
}


@blueprint.get("/exports")
def list_exports() -> str:
    with transaction(read_only=True) as session:
        user_exports = exports.of_user(session, caller())
        return render_template(
            "portal/record_lists/exports.html",
            rows=[(each, LISTS.get(each.list_name)) for each in user_exports],
            is_waiting=any(each.status is ExportStatus.WAITING for each in user_exports),
            subjects=_subjects(session, user_exports),
            **PAGE_LABELS,
        )


def _subjects(session: Session, user_exports: Sequence[ListExport]) -> dict[UUID, str | None]:
    """Return the names of the people whose data the exports contain, by the id of the export."""
    return {
        each.id: exporting.name_of(session, caller(), each.list_name, each.query)
        for each in user_exports
        if each.file_format is ExportFormat.ZIP
    }


@blueprint.get("/exports/<uuid:export_id>/file")
def download_export(export_id: UUID) -> Response:
    """Send the file, if the user may still open its list."""
    with transaction(read_only=True) as session:
        export = exports.file_of(session, caller(), export_id)
    if export.file_format is ExportFormat.ZIP:
        caller().require(Permission.PERSONAL_DATA)
    else:
        list_named(export.list_name)
    return _send_file(export)


def _send_file(export: ListExport) -> Response:
    name = f"{export.list_name}-{export.created_at:%Y-%m-%d}.{export.file_format}"
    try:
        return send_stored(export.file_key, MEDIA_TYPES[export.file_format], name, is_saved=True)
    except FileNotFoundError:
        raise NotFound(gettext("There is no such export."), "export_not_found") from None


@blueprint.post("/exports/<uuid:export_id>/delete")
def delete_export(export_id: UUID) -> Response:
    with transaction() as session:
        key = exports.delete(session, caller(), export_id)
    if key:
        delete_file(key)
    return redirect_with(
        gettext("The export was deleted."), url_for("portal.record_lists.list_exports")
    )
