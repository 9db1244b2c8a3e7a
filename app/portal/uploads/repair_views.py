"""Fixing rows on the check screen: typing cells again, leaving rows out."""

import re
from uuid import UUID

from flask import request
from werkzeug.wrappers import Response

from app.errors import CHANGED_MEANWHILE, Conflict
from app.extensions import caller, transaction
from app.portal.uploads.step_views import check_as_it_is
from app.portal.uploads.upload_pages import to_upload, unless_moved_on
from app.portal.web.blueprint import portal
from app.portal.web.forms import seen_version
from app.services.imports import corrections

Page = tuple[str, int] | Response

_CELL = re.compile(r"cell-(\d{1,8})-(\d{1,4})", re.ASCII)
_ROW = re.compile(r"\d{1,8}", re.ASCII)


@portal.post("/uploads/<uuid:upload_id>/rows")
def upload_fix_rows(upload_id: UUID) -> Page:
    """Save the corrections and check the file with them."""
    typed, left_out = _typed(), _left_out()
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


def _left_out() -> set[int]:
    """Return the numbers of the rows that the form leaves out."""
    return {int(text) for text in request.form.getlist("left_out") if _ROW.fullmatch(text)}


def _typed() -> dict[int, dict[int, str]]:
    """Row number -> index of the column -> text."""
    typed: dict[int, dict[int, str]] = {}
    for name, text in request.form.items():
        if match := _CELL.fullmatch(name):
            typed.setdefault(int(match[1]), {})[int(match[2])] = text
    return typed
