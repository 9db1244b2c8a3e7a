"""Fixing rows on the check screen: retyping cells, leaving rows out."""

from uuid import UUID

from werkzeug.wrappers import Response

from app.errors import Conflict
from app.extensions import caller, transaction
from app.portal.uploads import blueprint
from app.portal.uploads.check_page import rows_left_out, submitted_cells
from app.portal.uploads.step_views import refused_step
from app.portal.uploads.upload_pages import changing_upload, to_upload
from app.portal.web.blueprint import Page
from app.portal.web.forms import seen_version
from app.services.imports import corrections


@blueprint.post("/uploads/<uuid:upload_id>/rows")
def correct_rows(upload_id: UUID) -> Page:
    """Save the corrections and check the file with them."""
    submitted, left_out = submitted_cells(), rows_left_out()
    try:
        with transaction() as session:
            corrections.correct_rows(
                session, caller(), upload_id, submitted, left_out, expected_check=seen_version()
            )
    except Conflict as error:
        return refused_step(error, upload_id, submitted)
    return to_upload(upload_id, _anchor="rows")


@blueprint.post("/uploads/<uuid:upload_id>/rows/restore")
def restore_left_out_rows(upload_id: UUID) -> Response:
    """Include the left-out rows again."""
    with changing_upload(upload_id) as session:
        corrections.restore_left_out(session, caller(), upload_id)
    return to_upload(upload_id, _anchor="rows")


@blueprint.post("/uploads/<uuid:upload_id>/rows/discard-fixes")
def discard_corrections(upload_id: UUID) -> Response:
    """Read the file without corrections and with all rows."""
    with changing_upload(upload_id) as session:
        corrections.discard_corrections(session, caller(), upload_id)
    return to_upload(upload_id, _anchor="rows")
