"""The file of an upload for download: all rows with their problems, or only those that failed."""

from collections.abc import Iterable, Iterator
from tempfile import SpooledTemporaryFile
from uuid import UUID

from flask import Response, redirect, stream_with_context, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WerkzeugResponse

from app.contact_files.writing import RowWriter
from app.errors import Conflict, Gone, NotFound, TooLarge
from app.extensions import caller, files, settings, transaction
from app.gateways.files import StoredFile
from app.languages import gettext
from app.models import ContactImport
from app.portal.uploads.new_views import created
from app.portal.web.blueprint import portal
from app.portal.web.formats import long_datetime
from app.portal.web.lists import csv_file
from app.portal.web.messages import redirect_with
from app.services.csv_files import first_line, lines
from app.services.imports import reports, uploads
from app.services.imports.uploads import UploadChoices

IN_MEMORY = 1_000_000
"""Bytes of a file that are kept in memory while it is written."""
_KINDS = {
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


_SAMPLE = (
    ("First name", "Last name", "Phone", "Email", "Company"),
    ("Ada", "Byron", "+1 202 555 0101", "ada@example.com", "Example Ltd"),
    ("Max", "Sample", "+1 202 555 0102", "", ""),
)
"""With numbers that belong to no one: 555-0100 to 555-0199 are reserved for examples."""


@portal.get("/uploads/sample.csv")
def upload_sample() -> Response:
    """A contact file to start from."""
    return csv_file("contacts-sample", [first_line(_SAMPLE[0]), lines(_SAMPLE[1:])])


@portal.get("/uploads/<uuid:upload_id>/failed-rows.<any(csv, xlsx):ending>")
def upload_failures(upload_id: UUID, ending: str) -> Response:
    """Export the rows that can't be applied, with a column for the reason."""
    return _file(upload_id, ending, failed_only=True)


@portal.get("/uploads/<uuid:upload_id>/file.<any(csv, xlsx):ending>")
def upload_file(upload_id: UUID, ending: str) -> Response:
    return _file(upload_id, ending, failed_only=False)


@portal.post("/uploads/<uuid:upload_id>/fix-failed")
def upload_fix_failed(upload_id: UUID) -> Response | WerkzeugResponse:
    """Upload the rows that failed as a file of their own, to fix them on its check screen."""
    with transaction(read_only=True) as session:
        found = _with_rows(session, upload_id)
        writer = reports.writer_of(session, found)
        chosen = uploads.choices_for_failed_rows(found)
    try:
        return redirect(_correction(found, writer, chosen), 303)
    except TooLarge as error:
        url = url_for("portal.upload", upload_id=upload_id)
        return redirect_with(error.message, url, "warning")


def _correction(found: ContactImport, writer: RowWriter, chosen: UploadChoices) -> str:
    """Upload the failed rows as a file that corrects them; return its URL. Raises `TooLarge`."""
    return created(
        found.campaign_id,
        _kept(_pieces(found, writer, failed_only=True)),
        file_name=_name(found, failed_only=True),
        action=found.action,
        chosen=chosen,
        corrects=found,
    )


def _with_rows(session: Session, upload_id: UUID) -> ContactImport:
    """Return the upload if its rows can be read. Raises `Gone` and `NotFound`."""
    found = uploads.get(session, caller(), upload_id)
    if found.rows_forgotten_at is not None:
        message = gettext(
            "The rows of this upload were removed on %(time)s. "
            "Its figures and its history are still there.",
            time=long_datetime(found.rows_forgotten_at),
        )
        raise Gone(message, "rows_forgotten")
    if found.checked_at is None or not found.columns:
        raise NotFound
    return found


def _name(found: ContactImport, *, failed_only: bool) -> str:
    stem = "".join(c if c.isalnum() and c.isascii() else "-" for c in found.file_name)
    kind = "failed-rows-of" if failed_only else "problems-in"
    return f"{kind}-{stem.rpartition('-')[0].strip('-') or 'upload'}.{reports.ending_of(found)}"


def _file(upload_id: UUID, ending: str, *, failed_only: bool) -> Response:
    with transaction(read_only=True) as session:
        found = _with_rows(session, upload_id)
        if ending != reports.ending_of(found):
            raise NotFound
        writer = reports.writer_of(session, found)
    name = _name(found, failed_only=failed_only)
    response = Response(
        stream_with_context(_pieces(found, writer, failed_only=failed_only)),
        content_type=_KINDS[ending],
    )
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _kept(pieces: Iterable[bytes]) -> StoredFile:
    with SpooledTemporaryFile(IN_MEMORY) as file:
        for piece in pieces:
            file.write(piece)
        file.seek(0)
        return files().save(file, max_bytes=settings().max_upload_bytes)


def _pieces(found: ContactImport, writer: RowWriter, *, failed_only: bool) -> Iterator[bytes]:
    yield writer.begin(reports.header(found))
    last: int | None = 0
    while last is not None:
        with transaction(read_only=True) as session:
            if not reports.are_those_of(session, found):
                message = "The file was read again: this download is incomplete."
                raise Conflict(message, "changed_meanwhile")  # breaks the download off
            rows, last = reports.rows_after(session, found, last, failed_only=failed_only)
        yield writer.rows(rows)
    yield writer.end()
