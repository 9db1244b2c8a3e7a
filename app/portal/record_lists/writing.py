"""The writing of a long list as a file, outside of any request."""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import IO
from uuid import UUID

from flask import current_app, g, request

from app.enums import ExportFormat, ExportProblem
from app.errors import Forbidden, NotFound, TooLarge
from app.extensions import database, delete_file, files, transaction
from app.gateways.files import StoredFile
from app.gateways.files.outages import retry_on_file_outage
from app.portal.record_lists.exporting import write_xlsx
from app.portal.record_lists.registry import list_named
from app.portal.web.list_rows import chunks, headings_of, sheet_name
from app.services import csv_files, exports
from app.services.csv_files import Cell
from app.services.personal_data import exporting

MAX_BYTES = 2_000_000_000


class CountedParts:
    """Parts of a list that count their rows on the way."""

    def __init__(self, row_chunks: Iterable[list[list[Cell]]]) -> None:
        self._parts = row_chunks
        self.rows = 0

    def __iter__(self) -> Iterator[list[list[Cell]]]:
        for chunk in self._parts:
            self.rows += len(chunk)
            yield chunk


def write_export(export_id: UUID) -> None:
    """Write the file of a requested export, as its user sees the list now.

    Does nothing if the export has ended. An interrupted attempt leaves it to the next one.
    """
    with transaction() as session:
        task = exports.begin(session, export_id)
    if task is None:
        return
    try:
        file, rows = _write_file(task)
        with file:
            stored = _store(file)
    except (Forbidden, NotFound):
        _record_failure(task, ExportProblem.NO_ACCESS)
        return
    except TooLarge as error:
        is_rows = error.code == "too_many_rows"
        _record_failure(task, ExportProblem.TOO_MANY_ROWS if is_rows else ExportProblem.TOO_LARGE)
        return
    with transaction() as session:
        unneeded = exports.finish(session, export_id, task.attempt_number, stored, rows)
    if unneeded:
        delete_file(unneeded)


@retry_on_file_outage
def _store(file: IO[bytes]) -> StoredFile:
    file.seek(0)
    return files().save(file, max_bytes=MAX_BYTES)


def _write_file(task: exports.ExportTask) -> tuple[IO[bytes], int]:
    """Return a temporary file with the list, and its number of rows. Raises what reading the list
    raises, and `TooLarge`."""
    export = task.export
    if export.file_format is ExportFormat.ZIP:
        return _write_zip(task)
    url = f"/lists/{export.list_name}/export.csv?{export.query}"
    # The declarations of lists read the filters from a request, and the caller from its context.
    with current_app.test_request_context(url):
        g.caller, g.zone = task.caller, export.zone
        if replica := database().replica:
            g.wrote_at = replica.position()  # the user may have written until they requested it
        definition = list_named(export.list_name)
        columns = definition.columns_of(request.args)
        row_chunks = CountedParts(chunks(definition, columns, definition.sort_of(request.args)))
        headings = headings_of(columns)
        if export.file_format is ExportFormat.XLSX:
            return write_xlsx(sheet_name(definition), headings, row_chunks), row_chunks.rows
        return _write_csv(headings, row_chunks), row_chunks.rows


@retry_on_file_outage
def _write_zip(task: exports.ExportTask) -> tuple[IO[bytes], int]:
    with transaction(read_only=True) as session:
        subject = exporting.subject_of(
            session, task.caller, task.export.list_name, task.export.query
        )
        return exporting.write(session, subject, files())


def _write_csv(headings: Sequence[str], row_chunks: Iterable[list[list[Cell]]]) -> IO[bytes]:
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    file.write(csv_files.first_line(headings))
    for chunk in row_chunks:
        file.write(csv_files.lines(chunk))
    file.seek(0)
    return file


def _record_failure(task: exports.ExportTask, problem: ExportProblem) -> None:
    with transaction() as session:
        exports.fail(session, task.export.id, problem, task.attempt_number)
