"""The steps of an upload: columns, repairs, applying, cancelling."""

from uuid import UUID

from flask import render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from app.enums import ImportStatus
from app.errors import CHANGED_MEANWHILE, Conflict, ValidationFailed
from app.extensions import caller, delete_file, transaction
from app.models import ContactImport
from app.portal.uploads import blueprint
from app.portal.uploads.check_page import (
    SubmittedCells,
    check_context,
    rows_left_out,
    submitted_cells,
)
from app.portal.uploads.forms import ReadingForm
from app.portal.uploads.labels import correction_labels
from app.portal.uploads.sheet import columns_of
from app.portal.uploads.upload_pages import (
    cancel_confirmation,
    changing_upload,
    path_of,
    to_upload,
)
from app.portal.uploads.views import upload_page_data
from app.portal.web.blueprint import Page
from app.portal.web.forms import seen_version
from app.portal.web.messages import redirect_with
from app.services.imports import corrections, steps, uploads
from app.services.tenancy import ARCHIVED


@blueprint.get("/uploads/<uuid:upload_id>/columns")
def edit_columns(upload_id: UUID) -> Page:
    """Show every column with its first values, and how the file is read."""
    with transaction(read_only=True) as session:
        upload = uploads.get(session, caller(), upload_id)
        if not uploads.can_be_read_again(upload):
            return to_upload(upload_id)
        return _columns_page(session, upload)


@blueprint.post("/uploads/<uuid:upload_id>/columns")
def save_columns(upload_id: UUID) -> Page:
    """Check the file again with the form's columns and, if it has them, reading settings."""
    mapping = request.form.getlist("column")
    form = ReadingForm() if "header_row" in request.form else None
    if form is not None and not form.validate():
        return _refused_columns(upload_id, form, mapping)
    try:
        _read_again(upload_id, form, mapping)
    except ValidationFailed as error:
        return _refused_columns(upload_id, form, mapping, _by_column(error))
    return to_upload(upload_id)


def _read_again(upload_id: UUID, form: ReadingForm | None, mapping: list[str]) -> None:
    """Check the file again. Raises `ValidationFailed`, about columns."""
    reading = form.to_reading() if form is not None else None
    with changing_upload(upload_id) as session:
        steps.read_again(session, caller(), upload_id, mapping=mapping or None, reading=reading)


def _by_column(error: ValidationFailed) -> dict[int, str]:
    """Return the problems by the index of their column."""
    return {int(each.field.partition(".")[2]): each.message for each in error.problems}


@blueprint.post("/uploads/<uuid:upload_id>/check")
def check_upload_again(upload_id: UUID) -> Response:
    """Check the file against the campaign as it is now."""
    with changing_upload(upload_id) as session:
        steps.read_again(session, caller(), upload_id)
    return to_upload(upload_id)


@blueprint.post("/uploads/<uuid:upload_id>/repairs/<reason>")
def apply_repair(upload_id: UUID, reason: str) -> Response:
    with changing_upload(upload_id) as session:
        steps.repair(session, caller(), upload_id, reason)
    return to_upload(upload_id)


@blueprint.post("/uploads/<uuid:upload_id>/repairs/<reason>/undo")
def undo_repair(upload_id: UUID, reason: str) -> Response:
    with changing_upload(upload_id) as session:
        steps.undo_repair(session, caller(), upload_id, reason)
    return to_upload(upload_id)


@blueprint.post("/uploads/<uuid:upload_id>/apply")
def apply_upload(upload_id: UUID) -> Page:
    """Apply the check that the user has seen; nothing if it has changed since. Corrections that
    were typed are saved and checked first."""
    submitted = submitted_cells()
    try:
        with transaction() as session:
            url_params = _apply(session, upload_id, submitted)
    except Conflict as error:
        return refused_step(error, upload_id, submitted, applies=True)
    return to_upload(upload_id, **url_params)


def _apply(session: Session, upload_id: UUID, submitted: SubmittedCells) -> dict[str, str]:
    """Apply the rows; return parameters of the upload's page, which says if corrections are checked
    first. Raises `Conflict`."""
    left_out, expected_check = rows_left_out(), seen_version()
    if submitted or left_out:
        upload = corrections.correct_rows(
            session, caller(), upload_id, submitted, left_out, expected_check=expected_check
        )
        if upload.status is not ImportStatus.CHECKED:
            return {"edits": "saved"}
    steps.start_apply(session, caller(), upload_id, expected_check=expected_check)
    return {}


@blueprint.get("/uploads/<uuid:upload_id>/cancel")
def confirm_cancel_upload(upload_id: UUID) -> Page:
    with transaction(read_only=True) as session:
        upload = uploads.get(session, caller(), upload_id)
        if upload.status is not ImportStatus.CHECKED:
            return to_upload(upload_id)
        counts = corrections.count_corrections(session, upload)
        return cancel_confirmation(session, upload, correction_labels(counts)).page()


@blueprint.post("/uploads/<uuid:upload_id>/cancel")
def cancel_upload(upload_id: UUID) -> Response:
    with changing_upload(upload_id) as session:
        upload = steps.cancel(session, caller(), upload_id)
    if upload.status is ImportStatus.CANCELLED:
        delete_file(upload.file_key)
    return to_upload(upload_id)


def _refused_columns(
    upload_id: UUID,
    form: ReadingForm | None,
    mapping: list[str],
    problems: dict[int, str] | None = None,
) -> Page:
    with transaction(read_only=True) as session:
        upload = uploads.get(session, caller(), upload_id)
        return _columns_page(session, upload, form, mapping, problems), 422


def _columns_page(
    session: Session,
    upload: ContactImport,
    form: ReadingForm | None = None,
    mapping: list[str] | None = None,
    problems: dict[int, str] | None = None,
) -> str:
    form = form or ReadingForm.showing(upload)
    form.set_sheets(upload)
    usable = mapping if mapping and len(mapping) == len(upload.columns) else None
    return render_template(
        "portal/uploads/columns.html",
        upload=upload,
        **path_of(session, upload),
        columns=columns_of(upload, uploads.external_id_keys(session, upload), usable),
        form=form,
        problems=problems or {},
    )


def refused_step(
    error: Conflict, upload_id: UUID, submitted: SubmittedCells, *, applies: bool = False
) -> Page:
    """Show the check if it has changed, otherwise the upload's page with the reason. ``submitted``
    holds corrections for the rows that are still shown.

    Raises the error if the organization is archived: its page leads to the organization.
    """
    if error.code == ARCHIVED:
        raise error
    with transaction(read_only=True) as session:
        upload = uploads.get(session, caller(), upload_id)
        if error.code != CHANGED_MEANWHILE or upload.status is not ImportStatus.CHECKED:
            url = url_for("portal.uploads.show_upload", upload_id=upload_id)
            return redirect_with(error.message, url, "warning")
        context = upload_page_data(session, upload)
        context |= check_context(session, upload, context, submitted)
        page = render_template(
            "portal/uploads/check.html", changed_meanwhile=True, applies=applies, **context
        )
        return page, 409
