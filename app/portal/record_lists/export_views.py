"""Lists as files: all rows that the filters of the URL show, in the chosen columns.

A short list is sent at once. The worker writes a long one, and its user gets a mail.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any
from urllib.parse import urlencode

from flask import flash, redirect, request, send_file, stream_with_context, url_for
from werkzeug.wrappers import Response

from app.enums import ExportFormat
from app.errors import Conflict, NotFound, ValidationFailed
from app.extensions import caller, figures, settings, transaction
from app.languages import gettext
from app.models import utcnow
from app.portal.record_lists.exporting import written_xlsx
from app.portal.record_lists.registry import list_named
from app.portal.web.blueprint import Page, portal
from app.portal.web.confirmation import Confirmation
from app.portal.web.formats import number
from app.portal.web.list_definitions import ListDefinition
from app.portal.web.list_pages import path_id
from app.portal.web.list_rows import CHUNK, cells_of, chunks, headings_of, sheet_name
from app.portal.web.lists import csv_file
from app.portal.web.messages import flashing
from app.portal.web.user_timezone import zone
from app.services import csv_files, exports
from app.services.csv_files import Cell

OF_LISTS = (ExportFormat.CSV, ExportFormat.XLSX)
MEDIA_TYPES = {
    ExportFormat.CSV: "text/csv; charset=utf-8",
    ExportFormat.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ExportFormat.ZIP: "application/zip",
}


@portal.get("/lists/<name>/export.<any(csv, xlsx):ending>")
def list_export(name: str, ending: str) -> Response:
    """Export the list as CSV, streamed, or as XLSX; a long one leads to `list_export_new`."""
    definition = _readable(name)
    with figures() as session:
        most = settings().export_rows
        is_long = definition.count(session, most) > most
    if is_long:
        wanted = urlencode(list(request.args.items(multi=True)))
        url = url_for("portal.list_export_new", name=name, format=ending)
        return redirect(f"{url}&{wanted}" if wanted else url, 303)
    columns = definition.columns_of(request.args)
    headings = headings_of(columns)
    parts = chunks(definition, columns, definition.sort_of(request.args))
    if ending == ExportFormat.XLSX:
        return _xlsx_file(definition, headings, parts)
    first = next(parts)  # what refuses the request does so before the answer begins
    lines: Iterator[bytes] = map(csv_files.lines, chain([first], parts))
    lines = chain([csv_files.first_line(headings)], lines)
    return csv_file(_file_name(definition), stream_with_context(lines))


def _xlsx_file(
    definition: ListDefinition[Any], headings: Sequence[str], parts: Iterable[list[list[Cell]]]
) -> Response:
    file = written_xlsx(sheet_name(definition), headings, parts)
    name, kind = f"{_file_name(definition)}.xlsx", MEDIA_TYPES[ExportFormat.XLSX]
    return send_file(file, kind, as_attachment=True, download_name=name)


def _file_name(definition: ListDefinition[Any]) -> str:
    return f"{definition.name}-{utcnow():%Y-%m-%d}"


@portal.get("/lists/<name>/selected.<any(csv, xlsx):ending>")
def list_export_selected(name: str, ending: str) -> Response:
    """Export the selected rows as CSV or XLSX, or with ``all`` those that match the filters."""
    definition = _readable(name)
    if definition.bulk is None or not definition.bulk.exports:
        raise NotFound
    if request.args.get("all"):
        query = definition.query_of(request.args)
        path = urlencode(_path(definition))
        url = url_for("portal.list_export", name=name, ending=ending)
        return redirect(f"{url}?{'&'.join(filter(None, (path, query)))}", 303)
    columns = definition.columns_of(request.args)
    with figures() as session:
        items = definition.bulk.several(session, request.args.getlist("id")[:CHUNK])
        rows = cells_of([item.row for item in items], columns)
    headings = headings_of(columns)
    if ending == ExportFormat.XLSX:
        return _xlsx_file(definition, headings, [rows])
    lines = [csv_files.first_line(headings), csv_files.lines(rows)]
    return csv_file(_file_name(definition), lines)


@portal.get("/lists/<name>/exports")
def list_export_new(name: str) -> str:
    """Ask whether to have the list written as a file."""
    definition = _readable(name)
    _format()
    return _preparing(definition).page()


def _preparing(definition: ListDefinition[Any]) -> Confirmation:
    return Confirmation(
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
                num=exports.KEPT_FOR.days,
            ),
        ],
        act=gettext("Prepare export"),
        safe=gettext("Back to the list"),
        safe_url=_list_url(definition),
        danger=False,
    )


@portal.post("/lists/<name>/exports")
def list_export_create(name: str) -> Page:
    definition = _readable(name)
    query = "&".join(filter(None, (urlencode(_path(definition)), _query(definition))))
    wanted = exports.ExportInput(name, query, _format(), zone())
    with flashing(Conflict):
        with transaction() as session:
            exports.create(session, caller(), wanted)
        flash(gettext("The export is being prepared. You get an email."), "success")
    return redirect(url_for("portal.exports"), 303)


def _readable(name: str) -> ListDefinition[Any]:
    """Return the list. Raises `NotFound`, and `ValidationFailed` for filters without a meaning."""
    definition = list_named(name)
    for parameter, words in definition.problems():
        raise ValidationFailed.on(parameter, "invalid_date", words)
    return definition


def _format() -> ExportFormat:
    """Return the format that the URL names. Raises `NotFound`."""
    wanted = request.args.get("format", "")
    if wanted not in OF_LISTS:
        raise NotFound
    return ExportFormat(wanted)


def _path(definition: ListDefinition[Any]) -> dict[str, Any]:
    return {name: path_id(name) for name in definition.path}


def _query(definition: ListDefinition[Any]) -> str:
    return definition.query_of(request.args)


def _list_url(definition: ListDefinition[Any]) -> str:
    url, query = url_for(definition.endpoint, **_path(definition)), _query(definition)
    return f"{url}?{query}" if query else url
