"""The size limit of a form, applied before its body is read."""

from flask import request
from werkzeug.exceptions import RequestEntityTooLarge

from app.extensions import caller, settings, transaction
from app.services.branding.images import MAX_BYTES
from app.services.do_not_call import MAX_FILE_BYTES
from app.services.imports import uploads

FORM_AROUND_FILE = 64 * 1024
"""Bytes of a form besides its file, so that a file just over the limit gets its own message."""
_FILE_AS_TEXT = frozenset(
    {
        "portal.do_not_call.add_numbers",
        "portal.do_not_call.check_numbers",
        "portal.do_not_call.add_valid_numbers",
    }
)
"""Forms with a file, with pasted lines, and with the lines of a file that was checked."""


def _file_limit() -> int | None:
    """Return the largest file of the current form in bytes; None for a form without a file."""
    match request.endpoint:
        case "portal.uploads.create_upload":
            return settings().max_upload_bytes
        case "portal.branding.upload_image":
            return MAX_BYTES
    if request.endpoint in _FILE_AS_TEXT:
        return 2 * MAX_FILE_BYTES
    return None


def apply_limit(*, may_send_files: bool) -> None:
    """Limit the body of the current request. A body without a length is cut off at the limit.

    Raises `RequestEntityTooLarge` if the stated length is larger.
    """
    limit = settings().max_body_bytes
    if may_send_files and (file_limit := _file_limit()) is not None:
        limit = file_limit + FORM_AROUND_FILE
    request.max_content_length = limit
    own_limit = limit if request.endpoint in _FILE_AS_TEXT else 0
    request.max_form_memory_size = max(settings().max_body_bytes, own_limit)
    if (request.content_length or 0) > limit:
        raise RequestEntityTooLarge


def refuse_without_room() -> None:
    """Refuse a contact file for which there is no storage left, by its stated length.

    Raises `TooLarge` (``storage_limit_reached``), and `NotFound` for a campaign of others.
    """
    if request.endpoint != "portal.uploads.create_upload" or request.view_args is None:
        return
    size = max((request.content_length or 0) - FORM_AROUND_FILE, 0)
    campaign_id = request.view_args["campaign_id"]
    with transaction(read_only=True) as session:
        uploads.require_room(session, caller(), campaign_id, size, settings().storage_defaults)


def stated_limit() -> int:
    """Return the limit that a page names: that of the file, if the form has one."""
    return _file_limit() or settings().max_body_bytes
