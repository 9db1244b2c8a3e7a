"""Lists as files: all rows that the filters of the URL show, in the chosen columns."""

from itertools import chain

from flask import request, send_file, stream_with_context
from werkzeug.wrappers import Response

from app.errors import ValidationFailed
from app.models import utcnow
from app.portal.record_lists.exporting import chunks, headings_of, written_xlsx
from app.portal.record_lists.registry import list_named
from app.portal.web.blueprint import portal
from app.portal.web.lists import csv_file
from app.services import csv_files

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@portal.get("/lists/<name>/export.<any(csv, xlsx):ending>")
def list_export(name: str, ending: str) -> Response:
    """Export the list as CSV, streamed, or as XLSX."""
    definition = list_named(name)
    for parameter, words in definition.problems():
        raise ValidationFailed.on(parameter, "invalid_date", words)
    columns = definition.columns_of(request.args)
    headings = headings_of(columns)
    file_name = f"{name}-{utcnow():%Y-%m-%d}"
    parts = chunks(definition, columns, definition.sort_of(request.args))
    if ending == "xlsx":
        file = written_xlsx(headings, parts)
        return send_file(file, XLSX, as_attachment=True, download_name=f"{file_name}.xlsx")
    first = next(parts)  # what refuses the request does so before the answer begins
    lines = map(csv_files.lines, chain([first], parts))
    return csv_file(file_name, stream_with_context(chain([csv_files.first_line(headings)], lines)))
