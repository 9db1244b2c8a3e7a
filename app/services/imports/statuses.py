"""The status of an upload as users see it: its stored status, its undo, and the rows to fix."""

from enum import StrEnum

from sqlalchemy import ColumnElement, null

from app.enums import ImportStatus
from app.models import ContactImport


class UploadStatus(StrEnum):
    """Each upload has one; `status_of` and `has_status` agree."""

    UPLOADED = "uploaded"
    READING = "reading"
    CHECKED = "checked"
    TO_FIX = "to-fix"
    APPLYING = "applying"
    DONE = "done"
    ROWS_FAILED = "rows-failed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNDOING = "undoing"
    UNDONE = "undone"
    UNDO_STOPPED = "stopped"


_OF_UNDO = frozenset({UploadStatus.UNDOING, UploadStatus.UNDONE, UploadStatus.UNDO_STOPPED})
_WITH_FAILED_ROWS = {
    UploadStatus.TO_FIX: ImportStatus.CHECKED,
    UploadStatus.ROWS_FAILED: ImportStatus.DONE,
}


def status_of(upload: ContactImport) -> UploadStatus:
    if upload.undo_status is not None:
        return UploadStatus(upload.undo_status)
    if upload.failed > upload.rows_fixed:
        for status, stored in _WITH_FAILED_ROWS.items():
            if upload.status is stored:
                return status
    return UploadStatus(upload.status.value)


def has_status(status: UploadStatus) -> ColumnElement[bool]:
    if status in _OF_UNDO:
        return ContactImport.undo_status == status
    is_not_undone = ContactImport.undo_status.is_(null())
    has_failed_rows = ContactImport.failed > ContactImport.rows_fixed
    if status in _WITH_FAILED_ROWS:
        return (ContactImport.status == _WITH_FAILED_ROWS[status]) & has_failed_rows & is_not_undone
    is_in_status = (ContactImport.status == ImportStatus(status.value)) & is_not_undone
    if status in (UploadStatus.CHECKED, UploadStatus.DONE):
        return is_in_status & ~has_failed_rows
    return is_in_status
