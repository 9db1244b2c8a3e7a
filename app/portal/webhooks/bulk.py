"""Pausing, resuming and removing several webhooks."""

from app.extensions import caller
from app.languages import gettext, lazy_gettext, ngettext
from app.policy import Permission
from app.portal.web.bulk import BulkAction
from app.services import webhooks

ACTIONS = (
    BulkAction(
        name="pause",
        label=lazy_gettext("Pause…"),
        permission=Permission.CREDENTIALS_MANAGE,
        button=lambda n: ngettext("Pause %(num)s webhook", "Pause %(num)s webhooks", n),
        done=lambda n: ngettext("%(num)s webhook paused", "%(num)s webhooks paused", n),
        keep_label=lazy_gettext("Keep active"),
        consequences=(lazy_gettext("Their events are kept and sent when you resume them."),),
        act=lambda session, item: webhooks.pause(session, caller(), item.row.id),
        done_label=lazy_gettext("Paused."),
        refusal=lambda item: gettext("Already paused.") if item.row.paused_at else None,
        undo="resume",
    ),
    BulkAction(
        name="resume",
        label=lazy_gettext("Resume…"),
        permission=Permission.CREDENTIALS_MANAGE,
        button=lambda n: ngettext("Resume %(num)s webhook", "Resume %(num)s webhooks", n),
        done=lambda n: ngettext("%(num)s webhook resumed", "%(num)s webhooks resumed", n),
        keep_label=lazy_gettext("Keep paused"),
        consequences=(lazy_gettext("Kept events are sent first."),),
        act=lambda session, item: webhooks.resume(session, caller(), item.row.id),
        done_label=lazy_gettext("Resumed."),
        refusal=lambda item: None if item.row.paused_at else gettext("It isn’t paused."),
        is_risky=False,
        undo="pause",
    ),
    BulkAction(
        name="remove",
        label=lazy_gettext("Remove…"),
        permission=Permission.CREDENTIALS_MANAGE,
        button=lambda n: ngettext("Remove %(num)s webhook", "Remove %(num)s webhooks", n),
        done=lambda n: ngettext("%(num)s webhook removed", "%(num)s webhooks removed", n),
        keep_label=lazy_gettext("Keep webhooks"),
        consequences=(
            lazy_gettext("Events not delivered yet will be lost, and their logs are deleted."),
            lazy_gettext("This can’t be undone. A new webhook gets a new secret."),
        ),
        act=lambda session, item: webhooks.remove(session, caller(), item.row.id),
        done_label=lazy_gettext("Removed."),
    ),
)
