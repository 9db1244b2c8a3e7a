"""Files of an upload to download: all rows with their problems, or only those that failed."""

from collections.abc import Iterable, Iterator
from tempfile import SpooledTemporaryFile
from uuid import UUID

from flask import redirect, stream_with_context, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.contact_files.writing import RowWriter
from app.errors import Conflict, Gone, NotFound, TooLarge
from app.extensions import caller, files, settings, transaction
from app.gateways.files import StoredFile
from app.languages import gettext
from app.models import ContactImport
from app.portal.uploads import blueprint
from app.portal.uploads.new_views import store_upload
from app.portal.web.formats import long_datetime
from app.portal.web.lists import csv_file, file_name_part
from app.portal.web.messages import redirect_with
from app.services.csv_files import first_line, lines
from app.services.imports import reports, uploads
from app.services.imports.uploads import UploadChoices

IN_MEMORY = 1_000_000
"""Bytes of a file that are kept in memory while it is written."""
_CONTENT_TYPES = {
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_SAMPLE = (
    ("First name", "Last name", "Phone", "Email", "Company"),
    ("Ada", "Byron", "+1 202 555 0101", "ada@example.com", "Example Ltd"),
    ("Max", "Sample", "+1 202 555 0102", "", ""),
)
"""The numbers belong to no one: 555-0100 to 555-0199 are reserved for examples."""


@blueprint.get("/uploads/sample.csv")
def download_sample() -> Response:
    """Return a sample contact file."""
    return csv_file("contacts-sample", [first_line(_SAMPLE[0]), lines(_SAMPLE[1:])])


@blueprint.get("/uploads/<uuid:upload_id>/failed-rows.<any(csv, xlsx):ending>")
def download_failed_rows(upload_id: UUID, ending: str) -> Response:
    """Export the rows that can't be applied, with a column for the reason."""
    return _file(upload_id, ending, failed_only=True)


@blueprint.get("/uploads/<uuid:upload_id>/file.<any(csv, xlsx):ending>")
def download_file(upload_id: UUID, ending: str) -> Response:
    return _file(upload_id, ending, failed_only=False)


@blueprint.post("/uploads/<uuid:upload_id>/fix-failed")
def fix_failed_rows(upload_id: UUID) -> Response:
    """Upload the rows that failed as a file of their own, to fix them on its check screen."""
    with transaction(read_only=True) as session:
        upload = _get_readable(session, upload_id)
        writer = reports.writer_of(session, upload)
        choices = uploads.choices_for_failed_rows(upload)
    try:
        return redirect(_correction(upload, writer, choices), 303)
    except TooLarge as error:
        url = url_for("portal.uploads.show_upload", upload_id=upload_id)
        return redirect_with(error.message, url, "warning")


def _correction(upload: ContactImport, writer: RowWriter, choices: UploadChoices) -> str:
    """Upload the failed rows as a file that corrects them; return its URL. Raises `TooLarge`."""
    return store_upload(
        upload.campaign_id,
        _store_pieces(_pieces(upload, writer, failed_only=True)),
        file_name=_name(upload, failed_only=True),
        action=upload.action,
        choices=choices,
        corrects=upload,
    )


def _get_readable(session: Session, upload_id: UUID) -> ContactImport:
    """Return the upload if its rows can be read. Raises `Gone` and `NotFound`."""
    upload = uploads.get(session, caller(), upload_id)
    if upload.rows_forgotten_at is not None:
        message = gettext(
            "The rows of this upload were removed on %(time)s. "
            "Its figures and its history are still there.",
            time=long_datetime(upload.rows_forgotten_at),
        )
        raise Gone(message, "rows_forgotten")
    if upload.checked_at is None or not upload.columns:
        raise NotFound
    return upload


def _name(upload: ContactImport, *, failed_only: bool) -> str:
    stem, _, _ = upload.file_name.rpartition(".")
    kind = "failed-rows-of" if failed_only else "problems-in"
    return f"{kind}-{file_name_part(stem, 'upload')}.{reports.ending_of(upload)}"


def _file(upload_id: UUID, ending: str, *, failed_only: bool) -> Response:
    with transaction(read_only=True) as session:
        upload = _get_readable(session, upload_id)
        if ending != reports.ending_of(upload):
            raise NotFound
        writer = reports.writer_of(session, upload)
    name = _name(upload, failed_only=failed_only)
    response = Response(
        stream_with_context(_pieces(upload, writer, failed_only=failed_only)),
        content_type=_CONTENT_TYPES[ending],
    )
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _store_pieces(pieces: Iterable[bytes]) -> StoredFile:
    with SpooledTemporaryFile(IN_MEMORY) as file:
        for piece in pieces:
            file.write(piece)
        file.seek(0)
        return files().save(file, max_bytes=settings().max_upload_bytes)


def _pieces(upload: ContactImport, writer: RowWriter, *, failed_only: bool) -> Iterator[bytes]:
    yield writer.begin(reports.header(upload))
    last: int | None = 0
    while last is not None:
        with transaction(read_only=True) as session:
            if not reports.are_those_of(session, upload):
                message = gettext("The upload has changed. Nothing was saved.")
                raise Conflict(message, "changed_meanwhile")  # interrupts the download
            rows, last = reports.rows_after(session, upload, last, failed_only=failed_only)
        yield writer.rows(rows)
    yield writer.end()
