"""The check screen for somebody who has looked at an earlier check of the upload."""

from uuid import UUID

from flask import render_template
from werkzeug.wrappers import Response

from app.enums import ImportState
from app.extensions import caller, transaction
from app.portal.uploads.check_page import Typed, check_context
from app.portal.uploads.redirects import to_upload
from app.portal.uploads.views import about
from app.services.imports import uploads


def check_as_it_is(upload_id: UUID, typed: Typed | None = None) -> tuple[str, int] | Response:
    """The check by now; ``typed`` stands where the rows are still shown."""
    with transaction(read_only=True) as session:
        found = uploads.get(session, caller(), upload_id)
        if found.state is not ImportState.CHECKED:
            return to_upload(upload_id)
        context = about(session, found) | check_context(session, found, typed)
        page = render_template(
            "portal/uploads/check.html", changed_meanwhile=True, typed=typed is not None, **context
        )
        return page, 409
