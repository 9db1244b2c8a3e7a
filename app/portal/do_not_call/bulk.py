"""Removing several numbers from a do-not-call list."""

from app.extensions import caller
from app.languages import lazy_gettext, ngettext
from app.policy import Permission
from app.portal.web.bulk import BulkAction
from app.services import do_not_call

ACTIONS = (
    BulkAction(
        name="remove",
        label=lazy_gettext("Remove…"),
        permission=Permission.CONTACTS_WRITE,
        button=lambda n: ngettext("Remove %(num)s number", "Remove %(num)s numbers", n),
        done=lambda n: ngettext("%(num)s number removed", "%(num)s numbers removed", n),
        keep_label=lazy_gettext("Keep numbers"),
        consequences=(
            lazy_gettext("They may be called again."),
            lazy_gettext("Make sure that the people agree to calls."),
        ),
        act=lambda session, item: do_not_call.remove(
            session, caller(), item.row.organization_id, item.row.phone
        ),
        done_label=lazy_gettext("Removed from the list."),
    ),
)
