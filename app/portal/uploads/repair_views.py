"""Fixing rows on the check screen: typing cells again, leaving rows out."""

from uuid import UUID

from werkzeug.wrappers import Response

from app.errors import CHANGED_MEANWHILE, Conflict
from app.extensions import caller, transaction
from app.portal.uploads.check_page import rows_left_out, typed_cells
from app.portal.uploads.step_views import check_as_it_is
from app.portal.uploads.upload_pages import to_upload, unless_moved_on
from app.portal.web.blueprint import portal
from app.portal.web.forms import seen_version
from app.services.imports import corrections

Page = tuple[str, int] | Response


@portal.post("/uploads/<uuid:upload_id>/rows")
def upload_fix_rows(upload_id: UUID) -> Page:
    """Save the corrections and check the file with them."""
    typed, left_out = typed_cells(), rows_left_out()
    try:
        with transaction() as session:
            corrections.fix_rows(
                session, caller(), upload_id, typed, left_out, expected_check=seen_version()
            )
    except Conflict as error:
        if error.code == CHANGED_MEANWHILE:
            return check_as_it_is(upload_id, typed)
    return to_upload(upload_id)


@portal.post("/uploads/<uuid:upload_id>/rows/take-back")
def upload_restore_left_out(upload_id: UUID) -> Response:
    """Include the left-out rows again."""
    with unless_moved_on() as session:
        corrections.restore_left_out(session, caller(), upload_id)
    return to_upload(upload_id)


@portal.post("/uploads/<uuid:upload_id>/rows/forget")
def upload_discard_fixes(upload_id: UUID) -> Response:
    """Read the file without corrections and with all rows."""
    with unless_moved_on() as session:
        corrections.discard_fixes(session, caller(), upload_id)
    return to_upload(upload_id)
