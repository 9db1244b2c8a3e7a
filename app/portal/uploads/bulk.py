"""Early deletion of the data of several uploads."""

from app.extensions import caller
from app.languages import gettext, lazy_gettext, ngettext
from app.policy import Permission
from app.portal.web.bulk import BulkAction, BulkItem
from app.services.imports import deletion


def _not_deletable_message(item: BulkItem) -> str | None:
    upload = item.row.upload
    if deletion.can_be_deleted(upload):
        return None
    if deletion.is_at_work(upload):
        return gettext(
            "The upload is still running. Nothing was deleted. Wait until it has finished."
        )
    return gettext("Its data is already deleted.")


ACTIONS = (
    BulkAction(
        name="delete-data",
        label=lazy_gettext("Delete data…"),
        permission=Permission.CONTACTS_WRITE,
        button=lambda n: ngettext(
            "Delete the data of %(num)s upload", "Delete the data of %(num)s uploads", n
        ),
        done=lambda n: ngettext(
            "Data of %(num)s upload deleted", "Data of %(num)s uploads deleted", n
        ),
        keep_label=lazy_gettext("Keep data"),
        consequences=(
            lazy_gettext("Files and their rows are deleted and can’t be downloaded again."),
            lazy_gettext("The uploads can’t be undone any more."),
            lazy_gettext("Rows that were not applied can’t be applied any more."),
            lazy_gettext("Contacts, figures and history stay."),
        ),
        act=lambda session, item: deletion.delete_data(session, caller(), item.row.upload.id),
        done_label=lazy_gettext("Data deleted."),
        refusal=_not_deletable_message,
    ),
)
